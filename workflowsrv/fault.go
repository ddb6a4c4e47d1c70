package workflowsrv

import (
	"cmp"
	"slices"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// The codes of the published workflow API, beside those of JSON-RPC.
const (
	codeServer           = -32000
	codeWorkflowNotFound = -32001
	codeInvalidWorkflow  = -32002
	codeStepNotFound     = -32003
	codeValidation       = -32004
	codeState            = -32005
	codeStorage          = -32006
	codeSecurity         = -32007
)

// A fault is why a call has no result.
type fault struct {
	code int
	// text stands in place of the published text of the code, if not "".
	text string
	// data is a JSON object, or nil. Its members are what the API publishes.
	data []byte
	// more are members that only the MCP door adds to data: what helps an agent to do better.
	more []byte
	// advice is a sentence for the agent that joins the text of the MCP door.
	advice string
}

// message is the published text of the code; what is particular to a call stands in the data.
func (f *fault) message() string {
	if f.text != "" {
		return f.text
	}
	texts := map[int]string{
		wire.CodeParse:          "Parse error",
		wire.CodeInvalidRequest: "Invalid Request",
		wire.CodeMethodNotFound: "Method not found",
		wire.CodeInvalidParams:  "Invalid params",
		wire.CodeInternal:       "Internal error",
		codeWorkflowNotFound:    "Workflow not found",
		codeInvalidWorkflow:     "Invalid workflow",
		codeStepNotFound:        "Step not found",
		codeValidation:          "Validation error",
		codeState:               "State error",
		codeStorage:             "Storage error",
		codeSecurity:            "Security error",
	}
	return cmp.Or(texts[f.code], "Server error")
}

// invalidParams is the fault of arguments that cannot be used.
func invalidParams(details string) *fault {
	return &fault{code: wire.CodeInvalidParams, data: wire.NewObject(nil).Text("details", details).End(), advice: details}
}

// encode gives the fault as the error member of JSON-RPC has it, with what only the MCP door tells.
func (f *fault) encode() []byte {
	data := f.data
	if len(f.more) > 0 && len(data) > 2 {
		data = slices.Concat(data[:len(data)-1], []byte(","), f.more[1:])
	}
	return wire.AppendFault(nil, f.code, f.message(), data)
}

func badParams(text string) error {
	return &wire.Error{Code: wire.CodeInvalidParams, Message: "Invalid params: " + text}
}
