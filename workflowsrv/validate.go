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
	id, stepID, output, variables := a.id("workflowId", "id"), a.id("stepId"), a.output(), a.object("context")
	if a.fault != nil {
		return result{}, a.fault
	}
	e, f := s.entry(id)
	if f != nil {
		return result{}, s.criteriaFault(id, f)
	}
	st, f := step(e.Workflow, stepID)
	if f != nil {
		return result{}, f
	}
	verdict := st.Criteria.Check(ctx, output, variables, criteria.Options{Mode: s.opts.Mode})
	return result{json: wire.MustEncode(verdict)}, nil
}

// output returns the text to validate. Agents send structured outputs as they are, instead of as a string: those are
// taken as their JSON text.
func (a *arguments) output() string {
	output := string(a.given["output"])
	if output == "" || output == "null" || output == `""` {
		a.refuse("output is required")
		return ""
	}
	if output[0] != '{' && output[0] != '[' {
		output = a.text("output")
	}
	if len(output) > MaxOutput {
		a.refuse(fmt.Sprintf("output has %d bytes; at most %d are validated", len(output), MaxOutput))
	}
	return output
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
				f.data = wire.NewObject(nil).Text("workflowId", id).Text("field", fault.Path).Text("details", fault.Message).End()
			}
		}
	}
	return f
}

func runValidateJSON(_ context.Context, s *service, a arguments) (result, *fault) {
	text := string(a.given["workflowJson"])
	if !strings.HasPrefix(text, "{") { // A definition that is sent as an object is meant as its text.
		text = a.text("workflowJson")
	}
	if strings.TrimSpace(text) == "" {
		a.refuse("workflowJson is required")
	}
	if a.fault != nil {
		return result{}, a.fault
	}
	w, err := definition.ParseWith("workflow", []byte(text), s.catalogue().Routines())
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
	return result{json: wire.NewObject(nil).Raw("schema", wire.Compact(nil, definition.Schema())).Raw("example", wire.Compact(nil, definition.Sample())).End()}, nil
}
