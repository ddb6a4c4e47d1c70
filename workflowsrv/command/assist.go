package command

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// What an inferred command needs to be run without a model: the score of the best, and what it has before the second.
// See TestQuality for where they come from.
const (
	sureScore        = 0.5
	sureMargin       = 0.2
	chooseCandidates = 64 // shown to a model
)

// Assist carries out an instruction in words, from where the path ends. It looks, in this order, for the exact name of
// a command, an utterance, a correction of the user's, a name in other capital letters before tags, a name with a slip,
// a name or an utterance with values, and words in common. A command that was only inferred, or whose parameters were
// read out of words, runs unasked if it changes nothing, and is proposed otherwise; where no command is likely enough the
// candidates are returned, with the question which one is meant.
//
// The error is as for [Engine.Execute], or that of the [Chooser].
func (e *Engine) Assist(ctx context.Context, p Path, query string, opts CallOptions) (*Outcome, error) {
	t, err := e.turn(ctx, p, query, opts)
	if err != nil {
		return nil, err
	}
	if len(query) > maxCommand || !utf8.ValidString(query) {
		return nil, malformed(-1, "the instruction is longer than %d bytes or not valid UTF-8", maxCommand)
	}
	t.query = strings.TrimSpace(query)
	bare, named := unslashed(query)
	if bare == "" {
		return t.outcome(nil, nil, true, CommandResponse{Response: "Say what you want to do. what_can_i_do lists the commands."}), nil
	}
	if v, rest, ok := t.said(bare).exact(named); ok {
		return t.explicit(v, rest)
	}
	if v, ok := t.said(bare).uttered(); ok {
		t.query = bare
		return t.guess(v)
	}
	if v, ok := t.said(bare).corrected(); ok {
		t.query = bare
		return t.guess(v)
	}
	t.inferred = true
	if forbids(t.query) {
		return t.outcome(nil, nil, true, CommandResponse{Response: "Nothing was run: the instruction says what not to do. Say what should be done."}), nil
	}
	if v, rest, ok := t.said(bare).tagged(); ok {
		return t.explicit(v, rest)
	}
	if v, ok := t.said(bare).misspelt(); ok {
		return t.explicit(v, "")
	}
	if v, ok := t.said(t.query).worded(); ok {
		return t.guess(v)
	}
	return t.likely()
}

// unslashed gives a text without the slash that says that it is a command, and whether there is one. The slash is only
// that where a command follows; otherwise it belongs to a value, such as a path.
func unslashed(text string) (bare string, slashed bool) {
	text = strings.TrimSpace(text)
	return strings.TrimLeft(text, "/"+space), strings.HasPrefix(text, "/")
}

// Slashed reports whether a text is a command that is there where a path ends, with a slash before its name, and gives
// the text without that slash.
func (e *Engine) Slashed(p Path, text string) (bare string, is bool) {
	if bare, is = unslashed(text); is {
		_, _, is = (&instruction{w: e.w, path: p, query: bare}).exact(true)
	}
	if !is {
		return text, false
	}
	return bare, true
}

// explicit runs a command that was named, with what follows the name.
func (t *turn) explicit(v visible, rest string) (*Outcome, error) {
	problem := &Problem{}
	if hasTag(v.command, rest) {
		args, err := v.command.parse(rest, 0, problem)
		if err != nil {
			t.traceIn(v.command, nil)
			return t.refuse(v.command, nil, problem, v.command.Name+" was not run: "+err.Error()), nil
		}
		return t.run(v, args, problem)
	}
	found := extract(v.command, rest, nil, t.path[:v.depth])
	if found.left != "" {
		t.traceIn(v.command, nil)
		return t.refuse(v.command, nil, problem, v.command.Name+" was not run: none of its parameters takes “"+cut.After(found.left, 80)+"” by itself; write name=value"), nil
	}
	t.inferred = t.inferred || !found.whole
	return t.run(v, found.args, found.problem)
}

// guess runs a command that was found, with the parameters that the instruction gives. Where it gives any the command
// counts as inferred, even if there was no doubt about which is meant.
func (t *turn) guess(v visible) (*Outcome, error) {
	found := t.said(t.query).extract(v)
	t.inferred = t.inferred || len(found.args) > 0 || found.left != ""
	t.proposed = t.proposed || found.borrowed
	return t.run(v, found.args, found.problem)
}

// forbids reports whether an instruction says what is not to be done.
func forbids(query string) bool {
	words := strings.Fields(normal(query))
	for len(words) > 1 && polite(words[0]) {
		words = words[1:]
	}
	said := strings.Join(words, " ")
	for _, not := range []string{"do not ", "don t ", "dont ", "never ", "not "} {
		if rest, ok := strings.CutPrefix(said, not); ok && !strings.HasPrefix(rest, "forget") && !strings.HasPrefix(rest, "mind") {
			return true
		}
	}
	return false
}

// likely looks for what the instruction may mean by all that is known of the commands.
func (t *turn) likely() (*Outcome, error) {
	var among []visible
	for _, v := range t.w.visibleAt(t.path) {
		if !t.said(t.query).wrong(v.command.Name) {
			among = append(among, v)
		}
	}
	found := t.words().find(t.query, t.path, among)
	if t.Engine.opts.Chooser != nil && len(among) > 0 {
		return t.choose(choices(found, among))
	}
	if v, sure := surely(found); sure && t.said(t.query).extract(v).left == "" {
		return t.guess(v)
	}
	return t.offer(found)
}

// choices are the commands that a [Chooser] chooses among: those that were found, the best first, and then the rest.
func choices(found []candidate, among []visible) []candidate {
	list := slices.Clone(found)
	for _, v := range among {
		if !slices.ContainsFunc(found, func(f candidate) bool { return f.command == v.command }) && v.command.Name != Abort {
			list = append(list, candidate{visible: v})
		}
	}
	return list[:min(len(list), chooseCandidates)]
}

// surely gives the best candidate if there is no doubt about it.
func surely(found []candidate) (visible, bool) {
	if len(found) == 0 || found[0].score < sureScore {
		return visible{}, false
	}
	if len(found) > 1 && found[0].score-found[1].score < sureMargin {
		return visible{}, false
	}
	return found[0].visible, true
}
