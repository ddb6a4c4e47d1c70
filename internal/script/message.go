package script

import (
	"encoding/json"
	"time"
)

// The bounds of a script.
const (
	MaxMemory  = 32 << 20
	MaxCalls   = 100
	AtATime    = 10
	MaxMessage = 8 << 20
	MaxConsole = 16 << 10
	MaxCode    = 256 << 10
	MaxTime    = 5 * time.Second // of the processor
)

// outOfTime is the exit status of a process whose script has used its time and could not be interrupted.
const outOfTime = 3

// fromScript is a line that the process of a script writes: a call, a line of the console, or the end.
type fromScript struct {
	Call    int             `json:"call,omitempty"`
	Toolbox string          `json:"toolbox,omitempty"`
	Server  string          `json:"server,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`

	Log *string `json:"log,omitempty"`

	Done  bool            `json:"done,omitempty"`
	Value json.RawMessage `json:"value,omitempty"` // of a script that ended well; absent if that is undefined
	Fault string          `json:"fault,omitempty"` // of one that did not
}

// toScript is a line that the process reads: first the code, then the answer of each call.
type toScript struct {
	Code  string          `json:"code,omitempty"`
	Call  int             `json:"call,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	Fault *string         `json:"fault,omitempty"` // of a call that failed, and may not have said why
}
