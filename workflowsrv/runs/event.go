package runs

import (
	"encoding/json"
	"time"
)

// Kind says what an event is.
type Kind string

// The kinds of events.
const (
	Started    Kind = "started"    // of Workflow, for Goal, with Context
	Noted      Kind = "noted"      // variables of Context, by the agent
	Done       Kind = "done"       // Step, with Output, Artifacts, Notes and Context
	Blocked    Kind = "blocked"    // the output of Step did not do: Reasons
	Asked      Kind = "asked"      // a person is asked about Step, or about going by Definition: Text
	Coded      Kind = "coded"      // a person has got a one-time code, of digest Hash, for Answer about Step
	Refused    Kind = "refused"    // somebody tried to answer for the person: Text says how
	Answered   Kind = "answered"   // the person gave Answer about Step
	Dismissed  Kind = "dismissed"  // the person was shown the question about Step, and gave no answer to it
	Intended   Kind = "intended"   // the tool of Step is about to be called, the waiting begins, or Children are about to
	Returned   Kind = "returned"   // the tool of Step gave Result, or failed: Text
	Lost       Kind = "lost"       // nobody knows what came of the call of the tool of Step: Text says why
	Checkpoint Kind = "checkpoint" // a place with a name, Text
	Rewound    Kind = "rewound"    // the run goes on from event To
	Forked     Kind = "forked"     // the events before this one are those of the run From
	Rebased    Kind = "rebased"    // the run goes by another definition, of digest Digest
	Abandoned  Kind = "abandoned"  // for the reason Text
	Expired    Kind = "expired"    // nothing had happened for too long: Text
	Finished   Kind = "finished"
)

// By whom an event is. A person is person:HOW, such as person:terminal; an agent agent:CLIENT.
const (
	byWorkbench = "workbench"
	byAgent     = "agent:"
	byPerson    = "person:"
	byHook      = "request" // that was waited for
)

// An Event is one thing that happened in a run. It does not change.
type Event struct {
	Kind Kind      `json:"kind"`
	At   time.Time `json:"at"`
	By   string    `json:"by"`

	Step     string          `json:"step,omitempty"`
	Loop     string          `json:"loop,omitempty"`     // that Step is in
	LoopName string          `json:"loopName,omitempty"` // that artifacts may call Loop by
	Pass     int             `json:"pass,omitempty"`     // of that loop, from 1
	Item     json.RawMessage `json:"item,omitempty"`     // of that pass

	Workflow   string          `json:"workflow,omitempty"`
	Digest     string          `json:"digest,omitempty"` // of a definition, or of arguments that are asked about
	Definition json.RawMessage `json:"definition,omitempty"`
	Goal       string          `json:"goal,omitempty"`
	Repository string          `json:"repository,omitempty"`
	Branch     string          `json:"branch,omitempty"`
	Conditions string          `json:"conditions,omitempty"` // how those of the run compare: strict or lenient

	Context   json.RawMessage   `json:"context,omitempty"` // the variables that changed
	Output    string            `json:"output,omitempty"`
	Notes     string            `json:"notes,omitempty"`
	Artifacts []json.RawMessage `json:"artifacts,omitempty"`
	// State is the place in the loops after Step, or from which a rebased run goes on, as the stateless API has it.
	State string `json:"state,omitempty"`

	Reasons []Reason `json:"reasons,omitempty"`
	Text    string   `json:"text,omitempty"`
	Answer  string   `json:"answer,omitempty"`
	Hash    string   `json:"hash,omitempty"`

	Tool      string          `json:"tool,omitempty"` // TOOLBOX/SERVER/TOOL
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Attempt   int             `json:"attempt,omitempty"`
	Until     *time.Time      `json:"until,omitempty"` // when a waiting is over
	Result    json.RawMessage `json:"result,omitempty"`

	Hook     string  `json:"hook,omitempty"`     // the secret of the address at which a request is waited for
	Children []Child `json:"children,omitempty"` // the runs that Step is joined from

	To    int    `json:"to,omitempty"`
	From  string `json:"from,omitempty"`  // a run that this one was forked from, or that has begun it
	Depth int    `json:"depth,omitempty"` // how many runs have begun one another, up to this one
	// Called are the gates of the steps whose tools that run had called after the place where this one was forked.
	Called []string `json:"called,omitempty"`
}

// A Child is a run that another one has begun.
type Child struct {
	Run      string          `json:"run"`
	Workflow string          `json:"workflow"`
	Goal     string          `json:"goal,omitempty"`
	Context  json.RawMessage `json:"context,omitempty"`
	// Note is what the agent is told of how the work is to be done.
	Note string `json:"note,omitempty"`
}

// A Reason is why the output of a step does not do.
type Reason struct {
	What string `json:"what"`          // is wrong
	Why  string `json:"why,omitempty"` // what the workflow wants it for
}

// wrongCode is the text of an event of that.
const wrongCode = "a wrong code"
