package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	// leadScore is what a candidate needs to be proposed alone, if the second has at most the part leadRatio of its
	// score.
	leadScore = 0.3
	leadRatio = 0.7
	// weakScore is what a candidate needs to be shown, unless the part weakName of its name is said.
	weakScore = 0.22
	weakName  = 0.5

	shownCandidates = 3
)

// offer proposes the likeliest command if it is ahead of all others, and otherwise returns the likeliest few with the
// question which one is meant.
func (t *turn) offer(found []candidate) (*Outcome, error) {
	found = slices.DeleteFunc(slices.Clone(found), candidate.weak)
	switch {
	case len(found) == 0:
		return t.refuse(nil, nil, &Problem{}, "No command at "+t.w.Title(t.path)+" does that. what_can_i_do lists the commands."), nil
	case len(found) == 1, found[0].score >= leadScore && found[1].score <= leadRatio*found[0].score:
		return t.propose(found[0])
	}
	var list []Candidate
	var shown []string
	for _, f := range found[:min(len(found), shownCandidates)] {
		list = append(list, f.shown(t.path))
		shown = append(shown, f.command.Name)
	}
	var b strings.Builder
	b.WriteString("Which of these is meant?")
	for i, c := range list {
		fmt.Fprintf(&b, "\n%d. %s: %s", i+1, c.Name, summary(c.Description))
	}
	return t.asking(b.String(), list, shown), nil
}

// weak reports whether the candidate is not worth being shown.
func (f candidate) weak() bool {
	return f.score < weakScore && f.named < weakName
}

// propose asks about one command: whether it is to run, with its values, or where some are missing whether it is meant
// at all.
func (t *turn) propose(f candidate) (*Outcome, error) {
	given := t.said(t.query).extract(f.visible)
	problem, whole := &Problem{}, maps.Clone(given.args)
	f.command.complete(whole, t.path[:f.depth])
	f.command.check(t.ctx, whole, problem)
	if problem.empty() && given.problem.empty() && given.left == "" {
		t.proposed = true
		return t.run(f.visible, given.args, given.problem)
	}
	return t.asking("Do you mean "+f.command.Name+"? It does this: "+summary(f.command.Description), []Candidate{f.shown(t.path)}, []string{f.command.Name}), nil
}

// shown is the candidate as it is told of, from where the path ends.
func (f candidate) shown(p Path) Candidate {
	return Candidate{f.command.listed(p[:f.depth]), f.command.Schema, f.score}
}

// asking returns a question about which command is meant.
func (t *turn) asking(question string, list []Candidate, shown []string) *Outcome {
	o := t.refuse(nil, nil, &Problem{Suggestions: map[string][]string{onCommand: shown}}, question)
	o.Output.CommandResponses[0].Artifacts = artifacts("candidates", list)
	o.Status, o.Question = AwaitingUser, question
	o.Pending = &Pending{Kind: AskChoice, Query: t.query, Candidates: shown, Form: choiceForm(shown)}
	return o
}
