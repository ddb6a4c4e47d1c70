package question

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// maxRounds is how often a server may ask for more before it answers.
const maxRounds = 20

// Answer gives the result of what a server asks.
type Answer func(method string, params []byte) (result []byte, err error)

// Rounds makes a request and follows it to its result: what the server wants to know first is answered, and the request
// is made again with that (multi round-trip requests, 2026-07-28).
func Rounds(params []byte, request func(params []byte) (result []byte, err error), answer Answer) ([]byte, error) {
	for range maxRounds {
		result, err := request(params)
		if err != nil {
			return nil, err
		}
		var kind struct {
			ResultType    string          `json:"resultType"`
			InputRequests json.RawMessage `json:"inputRequests"`
			RequestState  json.RawMessage `json:"requestState"`
		}
		_ = json.Unmarshal(result, &kind) // of another shape it is the result
		if kind.ResultType != "input_required" {
			return result, nil
		}
		responses, err := Responses(kind.InputRequests, answer)
		if err != nil {
			return nil, err
		}
		params = WithResponses(params, responses, kind.RequestState)
	}
	return nil, fmt.Errorf("the server asked for input %d times without answering", maxRounds)
}

// Responses answers the questions of a server of revision 2026-07-28.
func Responses(requests json.RawMessage, answer Answer) ([]byte, error) {
	out := []byte{'{'}
	if len(requests) == 0 || requests[0] != '{' {
		return append(out, '}'), nil
	}
	for key, value := range wire.Members(requests, wire.Whole(requests)) {
		var one struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(requests[value.Start:value.End], &one); err != nil {
			return nil, fmt.Errorf("the server asked for input that cannot be read: %w", foreign.NewError(err))
		}
		result, err := answer(one.Method, one.Params)
		if err != nil {
			return nil, err
		}
		out = wire.AppendMember(out, requests[key.Start:key.End], result)
	}
	return append(out, '}'), nil
}

// WithResponses gives params with the answers to questions in place of those before.
func WithResponses(params, responses, state []byte) []byte {
	var own map[string]json.RawMessage
	if json.Unmarshal(params, &own) != nil {
		return params
	}
	own["inputResponses"] = responses
	delete(own, "requestState")
	if len(state) > 0 {
		own["requestState"] = state
	}
	return wire.MustEncode(own)
}
