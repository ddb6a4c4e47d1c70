package command

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// A Correction is what a user has said of an earlier instruction: that it means
// Command, or with Wrong that it does not. The caller keeps those of each user
// and workflow and passes them in.
type Correction struct {
	Utterance string `json:"utterance"`
	Command   string `json:"command"`
	Wrong     bool   `json:"wrong,omitempty"`
}

// What an inferred command needs to be run without a model: the
// score of the best, and what it has before the second. See TestQuality for
// where they come from.
const (
	sureScore        = 0.5
	sureMargin       = 0.2
	chooseCandidates = 64 // shown to a model
)

// Assist carries out an instruction in words, from where the path ends. It
// looks, in this order, for the exact name of a command, an utterance, a
// correction of the user's, a name with a slip, a name or an utterance with
// values, and words in common. A command that was only inferred, or whose
// parameters were read out of words, runs unasked if it changes nothing, and is
// proposed otherwise; where no command is likely enough the candidates are
// returned, with the question which one is meant.
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
	named := strings.HasPrefix(strings.TrimSpace(query), "/")
	t.query = strings.TrimLeft(strings.TrimSpace(query), "/"+space)
	if t.query == "" {
		t.traceIn(nil, nil)
		return t.outcome(nil, nil, true, CommandResponse{Response: "Say what you want to do. what_can_i_do lists the commands."}), nil
	}
	if v, rest, ok := t.exact(named); ok {
		return t.explicit(v, rest)
	}
	if v, ok := t.uttered(); ok {
		return t.guess(v)
	}
	if v, ok := t.corrected(); ok {
		return t.guess(v)
	}
	t.inferred = true
	if forbids(t.query) {
		t.traceIn(nil, nil)
		return t.outcome(nil, nil, true, CommandResponse{Response: "Nothing was run, as it was said what not to do. Say what is to be done."}), nil
	}
	if v, ok := t.misspelt(); ok {
		return t.explicit(v, "")
	}
	if v, ok := t.worded(); ok {
		return t.guess(v)
	}
	return t.likely()
}

// exact finds a command whose name the instruction begins with. One word may be
// the name of a command by chance; then parameters must follow, or nothing.
func (t *turn) exact(named bool) (v visible, rest string, ok bool) {
	name, at, err := ParseName(t.query)
	if err != nil {
		return v, "", false
	}
	v, problem := t.w.resolve(t.path, strings.TrimSuffix(name, ":"))
	if problem != nil {
		return v, "", false
	}
	rest = strings.TrimSpace(t.query[at:])
	plainWord := !named && !strings.ContainsAny(name, "_/:.-") && !hasTag(v.command, rest) && !hasPair(v.command, rest)
	if plainWord && rest != "" {
		return v, "", false
	}
	return v, rest, true
}

// uttered finds the one command that has the instruction among its utterances,
// or whose name it is in words.
func (t *turn) uttered() (visible, bool) {
	said := normal(t.query)
	var found []visible
	for _, v := range t.w.visibleAt(t.path) {
		if said == normal(v.command.Leaf) || slices.ContainsFunc(v.command.Utterances, func(u string) bool { return normal(u) == said }) {
			found = append(found, v)
		}
	}
	if len(found) != 1 || t.wrong(found[0].command.Name) {
		return visible{}, false
	}
	return found[0], true
}

// minSlip is how long a name must be, in letters, to be meant by a misspelt one.
const minSlip = 4

// misspelt finds the one command whose name the whole instruction is, but for a
// slip. Nothing is given up by a slip.
func (t *turn) misspelt() (visible, bool) {
	if len(strings.Fields(t.query)) > 1 || utf8.RuneCountInString(t.query) < minSlip {
		return visible{}, false
	}
	byName := map[string]visible{}
	for _, v := range t.w.visibleAt(t.path) {
		if v.command.Name != Abort && utf8.RuneCountInString(v.command.Leaf) >= minSlip {
			byName[v.command.Name], byName[v.command.Leaf] = v, v
		}
	}
	near := nearest.Names(t.query, sortedKeys(byName), 2)
	if len(near) == 0 || strings.Contains(near[0], t.query) || strings.Contains(t.query, near[0]) {
		return visible{}, false // a part of a name is no slip
	}
	v := byName[near[0]]
	if len(near) > 1 && byName[near[1]].command != v.command || t.wrong(v.command.Name) {
		return visible{}, false
	}
	return v, true
}

// worded finds the one command whose name or utterance the instruction is, but
// for values and words that say nothing: "read the text file a.txt" is
// read_text_file.
func (t *turn) worded() (visible, bool) {
	said := gist(t.query)
	var found []visible
	for _, v := range t.w.visibleAt(t.path) {
		texts := append([]string{spaced(v.command.Leaf)}, v.command.Utterances...)
		if said != "" && !t.wrong(v.command.Name) && slices.ContainsFunc(texts, func(text string) bool { return gist(text) == said && !otherNumber(t.query, text) }) {
			found = append(found, v)
		}
	}
	if len(found) != 1 {
		return visible{}, false
	}
	return found[0], t.extract(found[0]).left == ""
}

// corrected finds what the user has said that the instruction means.
func (t *turn) corrected() (visible, bool) {
	said := normal(t.query)
	for _, c := range slices.Backward(t.opts.Corrections) {
		if c.Wrong || normal(c.Utterance) != said || t.wrong(c.Command) {
			continue
		}
		if v, problem := t.w.resolve(t.path, c.Command); problem == nil {
			return v, true
		}
	}
	return visible{}, false
}

// wrong reports whether the user has said that the instruction does not mean a
// command, and not taken it back since.
func (t *turn) wrong(command string) bool {
	if len(t.opts.Corrections) == 0 {
		return false
	}
	said := normal(t.query)
	for _, c := range slices.Backward(t.opts.Corrections) {
		if c.Command == command && normal(c.Utterance) == said {
			return c.Wrong
		}
	}
	return false
}

// explicit runs a command that was named, with what follows the name.
func (t *turn) explicit(v visible, rest string) (*Outcome, error) {
	problem := &Problem{}
	if hasTag(v.command, rest) {
		tags, err := Parse(rest, 0, v.command.paramNames())
		if err != nil {
			t.traceIn(v.command, nil)
			return t.refuse(v.command, nil, problem, v.command.Name+" was not run: "+err.Error()), nil
		}
		args, err := v.command.read(tags, problem)
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

// guess runs a command that was found, with the parameters that the
// instruction gives. Where it gives any the command counts as inferred, even if
// there was no doubt about which is meant.
func (t *turn) guess(v visible) (*Outcome, error) {
	found := t.extract(v)
	t.inferred = t.inferred || len(found.args) > 0 || found.left != ""
	t.proposed = t.proposed || found.borrowed
	return t.run(v, found.args, found.problem)
}

// extract reads the parameters of a command out of the instruction. What is
// left is a value of which nobody knows what it was to say: "show order 44830"
// is not for the command that shows this order.
func (t *turn) extract(v visible) extracted {
	c, at := v.command, t.path[:v.depth]
	found := extract(c, t.query, t.vocabulary(c), at)
	for i := range c.Params {
		p := &c.Params[i]
		if _, given := found.args[p.Name]; given || !p.needed(at) || found.problem.about(p.Name) {
			continue
		}
		if value, borrowed, ok := t.recall(c, p, t.query); ok {
			found.args[p.Name] = value
			found.borrowed = found.borrowed || borrowed
		}
	}
	return found
}

// vocabulary are the words of an instruction that say which command is meant,
// and are no values.
func (t *turn) vocabulary(c *Command) map[string]bool {
	words := map[string]bool{}
	for _, seed := range c.seeds() {
		for _, word := range wordsOf(seed) {
			words[word] = true
		}
	}
	return words
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

// likely looks for what the instruction may mean by all that is known of the
// commands.
func (t *turn) likely() (*Outcome, error) {
	var among []visible
	for _, v := range t.w.visibleAt(t.path) {
		if !t.wrong(v.command.Name) {
			among = append(among, v)
		}
	}
	found := t.w.words().find(t.query, t.path, among)
	if t.Engine.opts.Chooser != nil && len(among) > 0 {
		return t.choose(choices(found, among))
	}
	if v, sure := surely(found); sure && t.extract(v).left == "" {
		return t.guess(v)
	}
	return t.offer(found)
}

// choices are the commands that a [Chooser] chooses among: those that were
// found, the best first, and then the rest.
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
