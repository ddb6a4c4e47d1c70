package command

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/nearest"
)

// An instruction is what a user has said, at a place of a workflow.
type instruction struct {
	w           *Workflow
	path        Path
	query       string
	corrections []Correction
	memory      *memory
}

// exact finds a command whose name the instruction begins with. One word may be the name of a command by chance; then
// parameters must follow, or nothing.
func (s *instruction) exact(named bool) (v visible, rest string, ok bool) {
	name, at, err := ParseName(s.query)
	if err != nil {
		return v, "", false
	}
	v, problem := s.w.resolve(s.path, strings.TrimSuffix(name, ":"))
	if problem != nil {
		return v, "", false
	}
	rest = strings.TrimSpace(s.query[at:])
	plainWord := !named && !strings.ContainsAny(name, "_/:.-") && !hasTag(v.command, rest) && !hasPair(v.command, rest)
	if plainWord && rest != "" {
		return v, "", false
	}
	return v, rest, true
}

// tagged finds the one command whose name, in other capital letters, the instruction begins with, and whose tags follow.
// A keyboard makes the first letter of a sentence a capital one; the tags say that no sentence is meant.
func (s *instruction) tagged() (v visible, rest string, ok bool) {
	name, at, err := ParseName(s.query)
	if err != nil {
		return v, "", false
	}
	rest = strings.TrimSpace(s.query[at:])
	var found []visible
	for _, v := range s.w.visibleAt(s.path) {
		if (strings.EqualFold(v.command.Name, name) || strings.EqualFold(v.command.Leaf, name)) && hasTag(v.command, rest) {
			found = append(found, v)
		}
	}
	if len(found) != 1 {
		return v, "", false
	}
	return found[0], rest, true
}

// uttered finds the one command that has the instruction among its utterances, or whose name it is in words.
func (s *instruction) uttered() (visible, bool) {
	said := normal(s.query)
	var found []visible
	for _, v := range s.w.visibleAt(s.path) {
		if said == normal(v.command.Leaf) || slices.ContainsFunc(v.command.Utterances, func(u string) bool { return normal(u) == said }) {
			found = append(found, v)
		}
	}
	if len(found) != 1 || s.wrong(found[0].command.Name) {
		return visible{}, false
	}
	return found[0], true
}

// minSlip is how long a name must be, in letters, to be meant by a misspelt one.
const minSlip = 4

// misspelt finds the one command whose name the whole instruction is, but for a slip. Nothing is given up by a slip.
func (s *instruction) misspelt() (visible, bool) {
	if len(strings.Fields(s.query)) > 1 || utf8.RuneCountInString(s.query) < minSlip {
		return visible{}, false
	}
	byName := map[string]visible{}
	for _, v := range s.w.visibleAt(s.path) {
		if v.command.Name != Abort && utf8.RuneCountInString(v.command.Leaf) >= minSlip {
			byName[v.command.Name], byName[v.command.Leaf] = v, v
		}
	}
	near := nearest.Names(s.query, sortedKeys(byName), 2)
	if len(near) == 0 || strings.Contains(near[0], s.query) || strings.Contains(s.query, near[0]) {
		return visible{}, false // a part of a name is no slip
	}
	v := byName[near[0]]
	if len(near) > 1 && byName[near[1]].command != v.command || s.wrong(v.command.Name) {
		return visible{}, false
	}
	return v, true
}

// worded finds the one command whose name or utterance the instruction is, but for values and words that say nothing:
// "read the text file a.txt" is read_text_file. Nothing is given up by what only means it: "cancel it" may be said of
// what the session looks at.
func (s *instruction) worded() (visible, bool) {
	said := gist(s.query)
	var found []visible
	for _, v := range s.w.visibleAt(s.path) {
		texts := append([]string{spaced(v.command.Leaf)}, v.command.Utterances...)
		if said != "" && v.command.Name != Abort && !s.wrong(v.command.Name) && slices.ContainsFunc(texts, func(text string) bool { return gist(text) == said && !otherNumber(s.query, text) }) {
			found = append(found, v)
		}
	}
	if len(found) != 1 {
		return visible{}, false
	}
	return found[0], s.extract(found[0]).left == ""
}

// corrected finds what the user has said that the instruction means.
func (s *instruction) corrected() (visible, bool) {
	said := normal(s.query)
	for _, c := range slices.Backward(s.corrections) {
		if c.Wrong || normal(c.Utterance) != said || s.wrong(c.Command) {
			continue
		}
		if v, problem := s.w.resolve(s.path, c.Command); problem == nil {
			return v, true
		}
	}
	return visible{}, false
}

// wrong reports whether the user has said that the instruction does not mean a command, and not taken it back since.
func (s *instruction) wrong(command string) bool {
	if len(s.corrections) == 0 {
		return false
	}
	said := normal(s.query)
	for _, c := range slices.Backward(s.corrections) {
		if c.Command == command && normal(c.Utterance) == said {
			return c.Wrong
		}
	}
	return false
}

// extract reads the parameters of a command out of the instruction. What is left is a value of which nobody knows what
// it was to say: "show order 44830" is not for the command that shows this order.
func (s *instruction) extract(v visible) extracted {
	c, at := v.command, s.path[:v.depth]
	found := extract(c, s.query, c.vocabulary(), at)
	for i := range c.Params {
		p := &c.Params[i]
		if _, given := found.args[p.Name]; given || !p.needed(at) || found.problem.about(p.Name) {
			continue
		}
		if value, borrowed, ok := s.memory.recall(c, p, s.query); ok {
			found.args[p.Name] = value
			found.borrowed = found.borrowed || borrowed
		}
	}
	return found
}

// A Correction is what a user has said of an earlier instruction: that it means Command, or with Wrong that it does
// not. The caller keeps those of each user and workflow and passes them in.
type Correction struct {
	Utterance string `json:"utterance"`
	Command   string `json:"command"`
	Wrong     bool   `json:"wrong,omitempty"`
}
