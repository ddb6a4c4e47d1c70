package workflowsrv

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

func runValidate(ctx context.Context, s *service, a arguments) (result, *fault) {
	id, f := a.id("workflowId", "id")
	if f != nil {
		return result{}, f
	}
	stepID, f := a.id("stepId")
	if f != nil {
		return result{}, f
	}
	output, f := s.output(a)
	if f != nil {
		return result{}, f
	}
	variables, f := a.object("context")
	if f != nil {
		return result{}, f
	}
	e, f := s.entry(id)
	if f != nil {
		return result{}, s.criteriaFault(id, f)
	}
	st, f := step(e.Workflow, stepID)
	if f != nil {
		return result{}, f
	}
	verdict := st.Criteria.Check(ctx, output, variables, criteria.Options{Mode: s.opts.Mode, AssertFormat: s.opts.AssertFormat})
	return result{json: wire.MustEncode(verdict)}, nil
}

// output returns the text to validate. Agents send structured outputs as they are, instead of as a string: those are
// taken as their JSON text.
func (s *service) output(a arguments) (string, *fault) {
	raw := a["output"]
	if len(raw) == 0 || string(raw) == "null" || string(raw) == `""` {
		return "", invalidParams("output is required")
	}
	output := string(raw)
	if raw[0] != '{' && raw[0] != '[' {
		var f *fault
		if output, f = a.text("output"); f != nil {
			return "", f
		}
	}
	if len(output) > s.opts.MaxOutput {
		return "", invalidParams(fmt.Sprintf("output has %d bytes; at most %d are validated", len(output), s.opts.MaxOutput))
	}
	return output, nil
}

// criteriaFault gives a broken file the code that the published API has for broken criteria, where these are what is
// wrong with it. A JSON Schema that does not compile keeps the code of an invalid workflow.
func (s *service) criteriaFault(id string, f *fault) *fault {
	if f.code != codeInvalidWorkflow {
		return f
	}
	for _, invalid := range s.store.Catalogue().Invalid {
		if invalid.ID != id {
			continue
		}
		for _, fault := range invalid.Faults {
			if _, within, ok := strings.Cut(fault.Path, "/validationCriteria"); ok && !strings.Contains(within, "/schema") {
				f.code = codeValidation
				f.data = appendObject(nil, "workflowId", id, "field", fault.Path, "details", fault.Message)
			}
		}
	}
	return f
}

func runValidateJSON(_ context.Context, s *service, a arguments) (result, *fault) {
	text, f := a.text("workflowJson")
	if f != nil {
		// A definition that is sent as an object is meant as its text.
		if raw := a["workflowJson"]; len(raw) > 0 && raw[0] == '{' {
			text, f = string(raw), nil
		}
	}
	if f != nil {
		return result{}, f
	}
	if strings.TrimSpace(text) == "" {
		return result{}, invalidParams("workflowJson is required")
	}
	w, err := s.parser.ParseWith("workflow", []byte(text), s.catalogue().Routines())
	if err == nil {
		verdict := criteria.Accept()
		for _, warning := range w.Warnings {
			verdict.Warnings = append(verdict.Warnings, warning.String())
		}
		return result{json: wire.MustEncode(verdict)}, nil
	}
	issues := []string{err.Error()}
	if bad, ok := errors.AsType[*definition.Error](err); ok {
		issues = nil
		for _, fault := range bad.Faults {
			issues = append(issues, fault.String())
		}
	}
	verdict := criteria.Reject(issues...)
	verdict.Suggestions = []string{"Correct what the issues name, then check again. workflow_get_schema returns the schema and an example."}
	return result{json: wire.MustEncode(verdict)}, nil
}

func runGetSchema(context.Context, *service, arguments) (result, *fault) {
	return result{json: wire.NewObject(nil).Raw("schema", compact(definition.Schema())).Raw("example", compact(definition.Sample())).End()}, nil
}
