package command

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Answer goes on with a question that waits, given what the user replied: the words, or the JSON object of
// Pending.Form. A reply that answers nothing has the question asked again, with what was wrong. The reply abort always
// gives the question up. A reply that is one of the choices that the question names is that choice. Any other reply
// gives the question up if it is one of the words for that, such as cancel, or a command with a slash before its name,
// which is then carried out; where a command is to be chosen, the name or an utterance of another one is enough for
// that. Where a yes or no is asked for, an instruction that names another command, or is an utterance of one, is carried
// out. Where a value is asked for, all of the reply is the value, unless it begins with the name of a parameter, as in
// name: value.
//
// The workflow may have changed since the question was asked: what it does not have any more is asked anew or given up,
// and a command that is another one now is confirmed before it runs.
func (e *Engine) Answer(ctx context.Context, p Path, pending Pending, reply string, opts CallOptions) (*Outcome, error) {
	t, err := e.turn(ctx, p, reply, opts)
	if err != nil {
		return nil, err
	}
	t.query, t.inferred = pending.Query, pending.Inferred
	c := t.w.commands[pending.Action.CommandName]
	t.was, t.proposed = pending.Command, c != nil && pending.Command != "" && pending.Command != c.digest()
	reply = strings.TrimSpace(reply)
	offered := pending.Offers(reply)
	if _, slashed := e.Slashed(p, reply); slashed && !offered {
		return e.Assist(ctx, p, reply, opts)
	}
	form := arguments{}
	isForm := strings.HasPrefix(reply, "{") && json.Unmarshal([]byte(reply), &form) == nil
	said := normal(reply)
	if !isForm && (said == Abort || !offered && slices.Contains(giveUps(), said)) {
		return t.giveUp(nothingRun), nil
	}
	q := openQuestion{t, pending}
	switch pending.Kind {
	case AskConfirm:
		agreed, known := affirmed(said)
		if isForm {
			known = json.Unmarshal(form["confirm"], &agreed) == nil
		}
		return q.confirmed(agreed, known)
	case AskChoice:
		if isForm {
			said = normal(plain(form["command"]))
		}
		return q.chosen(said)
	default:
		o, err := q.supplied(reply, form, isForm)
		if err == nil {
			o.persist(pending)
		}
		return o, err
	}
}

// openQuestion is a turn that goes on with a question that waits.
type openQuestion struct {
	*turn
	pending Pending
}

// giveUps are what ends a question, besides [Abort], unless it is one of the choices.
func giveUps() []string {
	return []string{"cancel", "cancel it", "cancel that", "stop", "never mind", "nevermind", "forget it"}
}

// affirmed reads yes and no.
func affirmed(said string) (agreed, known bool) {
	switch said {
	case "y", "yes", "yes please", "yeah", "yep", "ok", "okay", "sure", "do it", "go ahead", "confirm", "confirmed", "true":
		return true, true
	case "n", "no", "nope", "no thanks", "no thank you", "don t", "do not", "false":
		return false, true
	}
	return false, false
}

const nothingRun = "Nothing was run."

// giveUp ends a question without doing anything.
func (t *turn) giveUp(text string) *Outcome {
	o := t.outcome(nil, nil, false, CommandResponse{Response: text})
	o.Status = Cancelled
	return o
}

// again asks once more.
func (q openQuestion) again(question string) *Outcome {
	o := q.outcome(nil, nil, false, CommandResponse{Response: question})
	o.Status, o.Question, o.Pending = AwaitingUser, question, &q.pending
	return o
}

func (q openQuestion) confirmed(agreed, known bool) (*Outcome, error) {
	if !known {
		if o, err, is := q.instead(); is {
			return o, err
		}
		return q.again("“" + cut.After(shown(q.raw), maxInline) + "” is neither yes nor no. Shall " + q.pending.Action.CommandName + " run? Answer yes or no; abort gives it up."), nil
	}
	if !agreed {
		return q.giveUp(nothingRun), nil
	}
	q.opts.Confirmed = !q.proposed // a yes to what the command was then is none to what it is now
	return q.action(q.pending.Action)
}

// instead carries out an instruction that stands in place of a yes or no. If it may change anything it is confirmed
// first, because it may be a comment on what was asked. The question stays open unless the instruction asks one of its
// own, gives it up or leads elsewhere.
func (q openQuestion) instead() (*Outcome, error, bool) {
	v, ok := q.ordered(q.raw)
	if !ok || q.opts.AnswersOnly {
		return nil, nil, false
	}
	given := len(q.said(q.raw).extract(v).args) > 0 || hasTag(v.command, q.raw)
	if v.command.Name == q.pending.Action.CommandName && !given {
		return nil, nil, false // what is asked about, named once more
	}
	opts := q.opts
	opts.Confirmed, opts.Inferred = false, true
	o, err := q.Assist(q.ctx, q.path, q.raw, opts)
	if err == nil && o.Status == Completed && q.w.Trail(o.Path) == q.w.Trail(q.path) {
		o.Status, o.Pending = AwaitingUser, &q.pending
		o.Question = "Shall " + q.pending.Action.CommandName + " run? Answer yes or no; abort gives it up."
		if !o.Output.Success {
			o.Question = o.Text() + "\n" + o.Question
		}
	}
	return o, err, true
}

// chosen goes on with the command that the user has picked, by its number or name.
func (q openQuestion) chosen(said string) (*Outcome, error) {
	agreed, known := affirmed(said)
	if known && !agreed || said == "none" || strings.HasPrefix(said, "none of th") {
		return q.giveUp(nothingRun), nil
	}
	number := position(said, len(q.pending.Candidates))
	if agreed && len(q.pending.Candidates) == 1 {
		number = 0 // "Do you mean" of one is answered by yes
	}
	for i, name := range q.pending.Candidates {
		v, problem := q.w.resolve(q.path, name)
		if problem != nil || i != number && said != normal(name) && said != normal(v.command.Leaf) {
			continue
		}
		q.inferred = false
		return q.guess(v)
	}
	other := q.said(q.raw)
	_, _, exact := other.exact(false)
	if _, uttered := other.uttered(); exact || uttered {
		return q.Assist(q.ctx, q.path, q.raw, q.opts)
	}
	q.pending.Candidates = slices.DeleteFunc(slices.Clone(q.pending.Candidates), func(name string) bool {
		_, problem := q.w.resolve(q.path, name)
		return problem != nil
	})
	if len(q.pending.Candidates) == 0 {
		return q.giveUp(nothingRun + " The workflow was edited, and what there was to choose from is not there any more."), nil
	}
	q.pending.Form = choiceForm(q.pending.Candidates)
	if len(q.pending.Candidates) == 1 {
		return q.again("Do you mean " + q.pending.Candidates[0] + "? Answer yes or no."), nil
	}
	return q.again("“" + cut.After(shown(q.raw), maxInline) + "” is none of them. Which one: " + strings.Join(q.pending.Candidates, ", ") + "? Answer with its number or name, or none."), nil
}

// position is which of n things a reply means that says nothing else, as in 2, "the second" or "option 2", counted from
// 0; it is -1 if the reply means none.
func position(said string, n int) int {
	words := slices.DeleteFunc(strings.Fields(said), func(w string) bool {
		return slices.Contains([]string{"the", "one", "number", "option", "please"}, w)
	})
	if len(words) != 1 {
		return -1
	}
	if i, ok := ordinal(words, n); ok {
		return i
	}
	i, err := strconv.Atoi(words[0])
	if err != nil {
		return -1
	}
	return i - 1
}

// supplied adds the value that was asked for, and others that the reply names.
func (q openQuestion) supplied(reply string, form arguments, isForm bool) (*Outcome, error) {
	v, problem := q.w.resolve(q.path, q.pending.Action.CommandName)
	if problem != nil || len(q.pending.Missing) == 0 {
		return q.action(q.pending.Action) // which says so
	}
	c, asked := v.command, q.pending.Missing[0]
	args := arguments{}
	_ = json.Unmarshal(q.pending.Action.Arguments, &args)
	problem = &Problem{}
	named := findPairs(reply, c.paramNames())
	isNamed := len(named) > 0 && named[0].start == 0
	if isForm && c.Param(asked) != nil && !c.hasAny(form) && len(form) > 0 {
		isForm = false // an object that is the value
	}
	if isForm {
		for name, value := range form {
			args[name] = wire.Compact(nil, value)
			// What no form has a field for was asked for as text.
			p := c.Param(name)
			if text, isText := wire.Unquote(value); isText && p != nil && len(p.Types) > 0 && !slices.Contains(p.Types, "string") {
				if read, err := p.read(c.schema, []string{text}); err == nil {
					args[name] = read
				}
			}
		}
		return q.run(v, args, problem)
	}
	if c.Param(asked) == nil && !isNamed {
		return q.anew(c.Name + " was edited, and does not take " + asked + " any more. ")
	}
	if o, err, is := q.aside(reply); is {
		return o, err
	}
	texts := map[string]string{}
	if isNamed {
		for _, p := range named {
			texts[p.name] = p.value
			q.inferred = q.inferred || p.joined
		}
	} else {
		texts[asked] = q.meant(c, c.Param(asked), unquoted(reply), problem)
	}
	for _, name := range sortedKeys(texts) {
		if problem.about(name) {
			continue
		}
		value, err := c.Param(name).read(c.schema, []string{texts[name]})
		if err != nil {
			problem.invalid(name, wire.AppendQuote(nil, texts[name]), err.Error())
			continue
		}
		args[name] = value
	}
	return q.run(v, args, problem)
}

// anew goes on as if nothing had been asked: the first of what is missing now is asked for, after the reason.
func (q openQuestion) anew(why string) (*Outcome, error) {
	o, err := q.action(q.pending.Action)
	if err != nil {
		return nil, err
	}
	if o.Question != "" {
		o.Question = why + o.Question
	}
	o.Output.CommandResponses[0].Response = why + o.Output.CommandResponses[0].Response
	return o, nil
}

// persist counts how often the same value was asked for in vain, and says how to get out of it.
func (o *Outcome) persist(before Pending) {
	if o.Pending == nil || o.Pending.Kind != AskValues || !slices.Equal(o.Pending.Missing[:1], before.Missing[:min(1, len(before.Missing))]) || o.Output.Success {
		return
	}
	if o.Pending.Tries = before.Tries + 1; o.Pending.Tries >= patience {
		o.Question += " Answer abort to give it up, or write a command with a / in front to do something else."
	}
}

// hasAny reports whether one of the values is that of a parameter.
func (c *Command) hasAny(form arguments) bool {
	for name := range form {
		if c.Param(name) != nil {
			return true
		}
	}
	return false
}

// meant is the value of a parameter that a reply in words gives. Where the reply may say something else as well, what
// it leads to is confirmed.
func (q openQuestion) meant(c *Command, p *Param, reply string, problem *Problem) string {
	offered := q.pending.Offers(reply)
	agreed, known := affirmed(normal(reply))
	switch {
	case known && slices.Contains(p.Types, "boolean"):
		return strconv.FormatBool(agreed)
	case known && !offered:
		problem.invalid(p.Name, wire.AppendQuote(nil, reply), "is asked for, not whether to go on (write "+p.Name+": "+reply+" if that is the value; abort gives it up)")
		return reply
	case !p.fits(reply, new(time.Duration)):
		// A value among other words.
		found := extract(&Command{Params: []Param{*p}, schema: c.schema, byName: map[string]*Param{p.Name: p}}, reply, map[string]bool{}, nil)
		if value, ok := found.args[p.Name]; ok && !p.takesText() {
			q.inferred = true
			return plain(value)
		}
		if value, _, ok := q.memory.recall(c, p, reply); ok && !p.takesText() {
			q.inferred, q.proposed = true, true
			return plain(value)
		}
	case !offered:
		_, orders := q.ordered(reply)
		q.inferred = q.inferred || orders
	}
	return reply
}

// ordered finds the command that a reply names, or means without doubt, if it could be an instruction of its own.
func (t *turn) ordered(reply string) (visible, bool) {
	other := t.said(reply)
	v, _, ok := other.exact(false)
	if !ok {
		v, ok = other.uttered()
	}
	if !ok {
		v, ok = other.worded()
	}
	return v, ok
}

// aside carries out a question of the user's own about where they are and what can be done, and leaves that of the
// command waiting.
func (q openQuestion) aside(reply string) (*Outcome, error, bool) {
	other := q.said(reply)
	v, _, ok := other.exact(false)
	if !ok {
		v, ok = other.uttered()
	}
	switch {
	case !ok || !v.command.core || q.pending.Offers(reply):
		return nil, nil, false
	case v.command.Name == Abort:
		return q.giveUp(nothingRun), nil, true
	case v.command.Effect != Read:
		return nil, nil, false
	}
	o, err := q.run(v, arguments{}, &Problem{})
	if err == nil {
		asked := q.w.commands[q.pending.Action.CommandName]
		o.Status, o.Question, o.Pending = AwaitingUser, question(asked, q.pending.Missing, &Problem{}), &q.pending
	}
	return o, err, true
}
