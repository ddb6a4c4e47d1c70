package workflowsrv

import (
	"context"
	"strconv"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

func runGet(ctx context.Context, s *service, a arguments) (result, *fault) {
	id, f := a.id("id", "workflowId")
	if f != nil {
		return result{}, f
	}
	mode, f := a.text("mode")
	if f != nil {
		return result{}, f
	}
	if mode != "" && mode != "full" && mode != "metadata" && mode != "preview" {
		return result{}, invalidParams("mode must be full, metadata or preview")
	}
	e, f := s.entry(id)
	if f != nil {
		return result{}, f
	}
	if mode == "" || mode == "full" {
		return result{json: e.JSON}, nil
	}
	dst := appendMetadata(nil, e)
	if mode == "preview" {
		dst = append(dst[:len(dst)-1], `,"firstStep":`...)
		dst = append(append(dst, firstStep(ctx, e.Workflow, s)...), '}')
	}
	return result{json: dst}, nil
}

// appendMetadata appends what there is to know before the first step.
func appendMetadata(dst []byte, e *definition.Entry) []byte {
	dst = appendSummary(dst, e)
	dst = dst[:len(dst)-1]
	if e.About != "" {
		dst = wire.AppendQuote(append(dst, `,"about":`...), e.About)
	}
	for _, list := range []struct {
		name  string
		texts []string
	}{
		{"examples", e.Examples},
		{"preconditions", e.Preconditions},
		{"clarificationPrompts", e.ClarificationPrompts},
		{"metaGuidance", e.MetaGuidance},
	} {
		if len(list.texts) > 0 {
			dst = append(wire.AppendQuote(append(dst, ','), list.name), ':')
			dst = appendStrings(dst, list.texts)
		}
	}
	dst = append(dst, `,"totalSteps":`...)
	return append(strconv.AppendInt(dst, int64(len(e.Steps)), 10), '}')
}

// firstStep is what an empty context leads to, or null.
func firstStep(ctx context.Context, w *definition.Workflow, s *service) []byte {
	answer, err := stepping.Next(ctx, w, stepping.Request{Mode: s.opts.Mode})
	if err != nil || answer.Step == nil {
		return []byte("null")
	}
	return answer.Step.JSON
}
