package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// CommandOutput is what a turn returned, as it goes over the wire.
type CommandOutput struct {
	Success      bool   `json:"success"`
	WorkflowName string `json:"workflow_name"`
	// Context is the title of the place where the session stands now.
	Context string `json:"context"`
	// CommandName is null where no command could be told.
	CommandName       *string           `json:"command_name"`
	CommandParameters json.RawMessage   `json:"command_parameters"`
	CommandResponses  []CommandResponse `json:"command_responses"`
	// Traces are left out where they were sent as events.
	Traces []TraceEvent `json:"traces,omitempty"`
}

// CommandResponse is one answer of a command.
type CommandResponse struct {
	Response        string                     `json:"response"`
	Artifacts       map[string]json.RawMessage `json:"artifacts"`
	NextActions     []Action                   `json:"next_actions"`
	Recommendations []string                   `json:"recommendations"`
}

// Action is a command with its parameters, an object of the values by name.
type Action struct {
	CommandName string          `json:"command_name"`
	Arguments   json.RawMessage `json:"arguments"`
}

// Direction says who speaks in a [TraceEvent].
type Direction string

// The directions.
const (
	ToWorkflow Direction = "agent_to_workflow"
	ToAgent    Direction = "workflow_to_agent"
)

// TraceEvent is a command on its way in, or its answer. A member that is not known at that moment is null.
type TraceEvent struct {
	Timestamp    int64           `json:"timestamp"` // in milliseconds since 1970
	Direction    Direction       `json:"direction"`
	RawCommand   *string         `json:"raw_command"`
	CommandName  *string         `json:"command_name"`
	Parameters   json.RawMessage `json:"parameters"`
	ResponseText *string         `json:"response_text"`
	Success      *bool           `json:"success"`
}

// ExecuteResult is the result of the tools execute_command and run_command.
type ExecuteResult struct {
	ResponseText string `json:"response_text"`
	Success      bool   `json:"success"`
	*Problem
	Artifacts       map[string]json.RawMessage `json:"artifacts,omitempty"`
	NextActions     []Action                   `json:"next_actions,omitempty"`
	Recommendations []string                   `json:"recommendations,omitempty"`
	Traces          []TraceEvent               `json:"traces,omitempty"`
}

// Status says whether a turn is over.
type Status string

// The statuses. A turn that is completed may still have failed: see CommandOutput.Success.
const (
	Completed    Status = "completed"
	AwaitingUser Status = "awaiting_user" // the user is asked Outcome.Question
	Cancelled    Status = "cancelled"     // by the command abort
)

// An Outcome is what became of one call of an [Engine].
type Outcome struct {
	Status Status
	Output CommandOutput
	// Path is where the session stands now.
	Path Path
	// Problem is set where a command could not be run.
	Problem *Problem
	// Question and Pending are set with AwaitingUser: the question for the user, and what [Engine.Answer] needs to go
	// on.
	Question string
	Pending  *Pending
	// Inferred says that the command was not named, but found by what was said, or that its parameters were.
	Inferred bool
	// Content and Structured are what a tool has returned, as it gave them: an array of content blocks, and data. They
	// are nil where there is none.
	Content, Structured json.RawMessage
}

// Text is all that the commands answered.
func (o *Outcome) Text() string {
	var texts []string
	for _, r := range o.Output.CommandResponses {
		texts = append(texts, r.Response)
	}
	return strings.Join(texts, "\n")
}

// Result gives the outcome as execute_command returns it.
func (o *Outcome) Result() ExecuteResult {
	r := ExecuteResult{ResponseText: o.Text(), Success: o.Output.Success, Problem: o.Problem, Traces: o.Output.Traces}
	for _, response := range o.Output.CommandResponses {
		if o.Problem == nil { // whose members stand beside
			r.Artifacts = response.Artifacts
		}
		r.NextActions, r.Recommendations = response.NextActions, response.Recommendations
	}
	return r
}

// Pending is a question that waits for an answer. It is plain data with a stable JSON, to be stored with the session.
type Pending struct {
	// Kind is what is asked for.
	Kind PendingKind `json:"kind"`
	// Query is the instruction that led to the question.
	Query string `json:"query,omitempty"`
	// Action is the command so far; it is empty where one is to be chosen.
	Action Action `json:"action"`
	// Command tells what the command of Action was when the first of its questions was asked: one that has changed since
	// is asked about again.
	Command string `json:"command,omitempty"`
	// Missing are the parameters that are asked for.
	Missing []string `json:"missing,omitempty"`
	// Candidates are the commands to choose from.
	Candidates []string `json:"candidates,omitempty"`
	// Inferred says that the command was found, not named.
	Inferred bool `json:"inferred,omitempty"`
	// Tries is how many replies for the first of Missing were no value of it.
	Tries int `json:"tries,omitempty"`
	// Form is a JSON Schema of the answer, flat enough for elicitation.
	Form json.RawMessage `json:"form,omitempty"`
}

// Offers reports whether a reply is one of the choices that the question names.
func (p *Pending) Offers(reply string) bool {
	reply = unquoted(reply)
	said := normal(reply)
	var form struct {
		Properties map[string]struct{ Enum []string }
	}
	_ = json.Unmarshal(p.Form, &form) // one that has no choices names none
	for _, field := range form.Properties {
		if slices.ContainsFunc(field.Enum, func(choice string) bool {
			return normal(choice) == said && strings.HasPrefix(choice, "/") == strings.HasPrefix(reply, "/")
		}) {
			return true
		}
	}
	return slices.ContainsFunc(p.Candidates, func(name string) bool {
		_, leaf, _ := strings.Cut(name, "/")
		return leaf != "" && normal(leaf) == said
	})
}

// Means reports whether the instruction that led to the question means a command, if that is what came of the answer.
// What the user only looked up in between, such as what can be done, is no choice.
func (p *Pending) Means(name string) bool {
	switch p.Kind {
	case AskConfirm:
		return p.Inferred && name == p.Action.CommandName
	case AskChoice:
		return slices.Contains(p.Candidates, name) || !slices.Contains(coreNames(), name)
	}
	return false
}

// PendingKind is what a question asks for.
type PendingKind string

// The kinds of question.
const (
	AskConfirm PendingKind = "confirm" // may Action run?
	AskChoice  PendingKind = "choose"  // which of Candidates?
	AskValues  PendingKind = "values"  // what are Missing?
)

// An Error is a call that cannot be worked on at all, as against a command that fails. Code is the HTTP status that
// says the same.
type Error struct {
	Code    int
	Message string
	// Offset is where in the command string the fault is, in characters from 0; -1 where that is not the matter.
	Offset int
}

func (e *Error) Error() string {
	if e.Offset < 0 {
		return e.Message
	}
	return fmt.Sprintf("at character %d: %s", e.Offset+1, e.Message)
}
