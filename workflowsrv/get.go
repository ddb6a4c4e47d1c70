package workflowsrv

import (
	"context"
	"encoding/json"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

func runGet(ctx context.Context, s *service, a arguments) (result, *fault) {
	id, mode := a.id("id", "workflowId"), a.text("mode")
	if mode != "" && mode != "full" && mode != "metadata" && mode != "preview" {
		a.refuse("mode must be full, metadata or preview")
	}
	if a.fault != nil {
		return result{}, a.fault
	}
	e, f := s.entry(id)
	if f != nil {
		return result{}, f
	}
	if mode == "" || mode == "full" {
		return result{json: e.JSON}, nil
	}
	m := metadata{summary: summarized(e), About: e.About, Examples: e.Examples, Preconditions: e.Preconditions,
		ClarificationPrompts: e.ClarificationPrompts, MetaGuidance: e.MetaGuidance, TotalSteps: len(e.Steps)}
	if mode == "preview" {
		m.FirstStep = firstStep(ctx, e.Workflow, s)
	}
	return result{json: wire.MustEncode(m)}, nil
}

// metadata are what there is to know before the first step.
type metadata struct {
	summary
	About                string          `json:"about,omitempty"`
	Examples             []string        `json:"examples,omitempty"`
	Preconditions        []string        `json:"preconditions,omitempty"`
	ClarificationPrompts []string        `json:"clarificationPrompts,omitempty"`
	MetaGuidance         []string        `json:"metaGuidance,omitempty"`
	TotalSteps           int             `json:"totalSteps"`
	FirstStep            json.RawMessage `json:"firstStep,omitempty"`
}

// firstStep is what an empty context leads to, or null.
func firstStep(ctx context.Context, w *definition.Workflow, s *service) []byte {
	answer, err := stepping.Next(ctx, w, stepping.Request{Mode: s.opts.Mode})
	if err != nil || answer.Step == nil {
		return []byte("null")
	}
	return answer.Step.JSON
}
