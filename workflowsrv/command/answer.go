package command

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Answer goes on with a question that waits, given what the user replied: the
// words, or the JSON object of Pending.Form. A reply that answers nothing has
// the question asked again; abort gives it up, and so does a command with a
// slash before its name, which is then carried out. Where a command is to be
// chosen, the name or an utterance of another one is enough for that.
func (e *Engine) Answer(ctx context.Context, p Path, pending Pending, reply string, opts CallOptions) (*Outcome, error) {
	t, err := e.turn(ctx, p, reply, opts)
	if err != nil {
		return nil, err
	}
	t.query, t.inferred = pending.Query, pending.Inferred
	reply = strings.TrimSpace(reply)
	if strings.HasPrefix(reply, "/") {
		return e.Assist(ctx, p, reply, opts)
	}
	form := arguments{}
	isForm := strings.HasPrefix(reply, "{") && json.Unmarshal([]byte(reply), &form) == nil
	said := normal(reply)
	if !isForm && (said == normal(Abort) || slices.Contains(giveUps(), said)) {
		return t.giveUp(), nil
	}
	switch pending.Kind {
	case AskConfirm:
		agreed, known := affirmed(said)
		if isForm {
			known = json.Unmarshal(form["confirm"], &agreed) == nil
		}
		return t.confirmed(pending, agreed, known)
	case AskChoice:
		if isForm {
			said = normal(plain(form["command"]))
		}
		return t.chosen(pending, said)
	default:
		return t.supplied(pending, reply, form, isForm)
	}
}

func giveUps() []string { return []string{"cancel", "stop", "never mind", "nevermind", "forget it"} }

// affirmed reads yes and no.
func affirmed(said string) (agreed, known bool) {
	switch said {
	case "y", "yes", "yes please", "ok", "okay", "sure", "do it", "go ahead", "confirm", "confirmed", "true":
		return true, true
	case "n", "no", "no thanks", "don t", "do not", "false":
		return false, true
	}
	return false, false
}

// giveUp ends a question without doing anything.
func (t *turn) giveUp() *Outcome {
	t.traceIn(nil, nil)
	o := t.outcome(nil, nil, true, CommandResponse{Response: "Nothing was run."})
	o.Status = Cancelled
	return o
}

// again asks once more.
func (t *turn) again(pending Pending, question string) *Outcome {
	t.traceIn(nil, nil)
	o := t.outcome(nil, nil, false, CommandResponse{Response: question})
	o.Status, o.Question, o.Pending = AwaitingUser, question, &pending
	return o
}

func (t *turn) confirmed(pending Pending, agreed, known bool) (*Outcome, error) {
	if !known {
		return t.again(pending, "Shall "+pending.Action.CommandName+" run? Answer yes or no."), nil
	}
	if !agreed {
		return t.giveUp(), nil
	}
	t.opts.Confirmed = true
	return t.action(pending.Action)
}

// chosen goes on with the command that the user has picked, by its number or
// name.
func (t *turn) chosen(pending Pending, said string) (*Outcome, error) {
	if said == "none" || said == "no" || said == "none of these" {
		return t.giveUp(), nil
	}
	if agreed, _ := affirmed(said); agreed && len(pending.Candidates) == 1 {
		said = "1" // "Which of these is meant?" of one is answered by yes
	}
	for i, name := range pending.Candidates {
		v, problem := t.w.resolve(t.path, name)
		if problem != nil || said != strconv.Itoa(i+1) && said != normal(name) && said != normal(v.command.Leaf) {
			continue
		}
		t.inferred = false
		return t.guess(v)
	}
	other := *t
	other.query = t.raw
	_, _, exact := other.exact(false)
	if _, uttered := other.uttered(); exact || uttered {
		return t.Assist(t.ctx, t.path, t.raw, t.opts)
	}
	return t.again(pending, "Which one: "+strings.Join(pending.Candidates, ", ")+"? Answer with its number or name, or none."), nil
}

// supplied adds the values that were asked for.
func (t *turn) supplied(pending Pending, reply string, form arguments, isForm bool) (*Outcome, error) {
	v, problem := t.w.resolve(t.path, pending.Action.CommandName)
	if problem != nil {
		return t.action(pending.Action) // which says so
	}
	args := arguments{}
	_ = json.Unmarshal(pending.Action.Arguments, &args)
	problem = &Problem{}
	if isForm {
		for name, value := range form {
			args[name] = wire.Compact(nil, value)
			// What no form has a field for was asked for as text.
			p := v.command.Param(name)
			if text, isText := wire.Unquote(value); isText && p != nil && len(p.Types) > 0 && !slices.Contains(p.Types, "string") {
				if read, err := p.read(v.command.schema, []string{text}); err == nil {
					args[name] = read
				}
			}
		}
		return t.run(v, args, problem)
	}
	texts := positional(v.command, pending.Missing, reply)
	if len(texts) == 0 {
		q := question(v.command, pending.Missing, problem)
		return t.again(pending, q), nil
	}
	for _, name := range sortedKeys(texts) {
		p := v.command.Param(name)
		if p == nil {
			continue
		}
		value, err := p.read(v.command.schema, []string{texts[name]})
		if err != nil {
			problem.invalid(name, wire.AppendQuote(nil, texts[name]), err.Error())
			continue
		}
		args[name] = value
	}
	return t.run(v, args, problem)
}

// positional reads a reply in words: the whole of it for one value, pairs of
// name and value, or as many values between commas as were asked for.
func positional(c *Command, wanted []string, reply string) map[string]string {
	texts := map[string]string{}
	for _, name := range wanted {
		if value, _, ok := findPair(reply, name); ok {
			texts[name] = value
		}
	}
	if len(texts) > 0 {
		return texts
	}
	if len(wanted) == 1 && reply != "" {
		return map[string]string{wanted[0]: reply}
	}
	parts := strings.Split(reply, ",")
	if len(parts) != len(wanted) {
		return nil
	}
	for i, part := range parts {
		texts[wanted[i]] = strings.TrimSpace(part)
	}
	return texts
}
