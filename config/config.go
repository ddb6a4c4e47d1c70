package config

import (
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/lock"
)

// Config is one workbench configuration, checked and with its variables expanded.
type Config struct {
	Path         string        // file it came from, the user's own of two; "" for the built-in configuration
	Project      string        // the project's file, of which it has a part or all; "" if it has none
	Unconfigured bool          // it is the built-in one, for there is no file
	Untrusted    *Untrusted    // the project's file that is there and not used as it is; nil if none is
	Notes        []string      // what a reader may not expect where it came from two files
	Partly       bool          // it is what can be used of a file with a fault (ParseUsable)
	Doubt        string        // why its file is not quite to be trusted; "" if nothing is known against it
	Fault        string        // what is wrong with the file by now, so that this one, read before, goes on; "" if nothing is
	ToolMode     ToolMode      `key:"toolMode" enum:"auto,dynamic,proxy,search"`
	OpenTimeout  time.Duration `key:"openTimeout"`
	OpenBudget   int           `key:"openBudget" least:"1" most:"1048576" of:"tokens"`       // how much the answer of an open tells unasked, in tokens of four bytes
	CodeMode     bool          `key:"codeMode"`                                              // scripts that call tools may be run
	MaxMessage   int           `key:"maxMessage" least:"65536" most:"1073741824" of:"bytes"` // the longest message taken from a client or server, in bytes
	EnvFile      EnvFiles      `key:"envFile"`                                               // of variables that the strings of this file may name, where the environment has none of the name
	Store        Store         `key:"store"`
	Models       Models        `key:"models"`
	HTTP         HTTP          `key:"http"`
	Record       Record        `key:"record"`    // how much is kept of calls
	Pinned       []Pin         `key:"pin"`       // tools that are always offered
	Toolboxes    []Toolbox     `key:"toolboxes"` // in the order of the file

	// Secrets says where secrets come from that are not among those of the user.
	Secrets map[string]SecretSource `key:"secrets"`

	given map[string]bool // the keys of the top level that the file has
}

// Store says where conversations are kept. At most one of Path and DSN is set; with neither it is a file among the
// user's others.
type Store struct {
	Path string `key:"path"` // of a SQLite file, absolute
	DSN  string `key:"dsn"`  // of a PostgreSQL database; a secret
	// KeepFor is how long a conversation is kept after its last turn; 0: for good.
	KeepFor time.Duration `key:"keepFor" least:"24h" most:"87840h"`
	// ExpireRuns is after how long in which nothing happens in a run it has expired; 0: never.
	ExpireRuns time.Duration `key:"expireRuns" least:"24h" most:"87840h"`
}

// Toolbox is a named group of servers that a client opens as one.
type Toolbox struct {
	Name        string
	File        string        // the file that it stands in; "" in the built-in configuration
	Description foreign.Lines `key:"description"`
	Open        bool          `key:"open"` // opened without being asked for
	Prefix      Prefix        `key:"prefix" enum:"toolbox,none"`
	Pins        lock.Mode     `key:"pins" enum:"off,warn,hold"` // "" means warn where there is a lock file, else off
	Servers     []Server      `key:"mcpServers"`                // in the order of the file, disabled ones included
}

// Server says how one MCP server is reached. Exactly one of Command, URL and Builtin is set.
type Server struct {
	Name      string
	Transport Transport `key:"transport"`

	Command    string            `key:"command"` // absolute, or a name to be found in PATH
	Args       []string          `key:"args"`
	Env        map[string]string `key:"env"`
	EnvFile    EnvFiles          `key:"envFile"` // further variables; those of Env prevail
	InheritEnv InheritEnv        `key:"inheritEnv"`
	Cwd        string            `key:"cwd"`     // absolute, or "" for the directory workbench runs in
	Sandbox    Sandbox           `key:"sandbox"` // what the program may do

	URL     string            `key:"url"`
	AnyHTTP bool              // nothing says which remote transport it speaks: a server that refuses TransportHTTP may be one of TransportSSE
	Headers map[string]string `key:"headers"`
	OAuth   OAuth             `key:"oauth"` // how the server is logged in to, where it wants that

	Builtin    string   `key:"builtin" enum:"workflow,commands"` // its name in workbench
	Commands   string   `key:"commands"`                         // what the built-in commands server serves: CommandsExample, CommandsToolbox and a name, or an absolute folder
	Workflows  []string `key:"workflows"`                        // directories of workflow files, for the built-in workflow server
	Conditions string   `key:"conditions" enum:"strict,lenient"` // "strict" or "lenient", for the built-in workflow server

	ToolFilters []string `key:"toolFilters" live:"yes"` // names and globs of path.Match, "!" in front of those to leave out; nil: every tool
	Tools       []Tool   `key:"tools" live:"yes"`       // how single tools are offered, in the order of the file
	ReadOnly    bool     `key:"readOnly" live:"yes"`    // tools that do not say that they only read are left out
	Approve     Approve  `key:"approve" live:"yes"`     // before which calls a person is asked
	Disabled    bool     `key:"disabled"`
	Shared      bool     `key:"shared"` // one for all clients of a gateway, instead of one for each
	Timeouts    Timeouts `key:"timeouts" live:"yes"`

	// IdleTimeout is after how long without use the server is stopped, until it is wanted again. 0 leaves that to what
	// it is served over; NeverIdle has it run on.
	IdleTimeout time.Duration `key:"idleTimeout" live:"yes"`
	MaxInFlight int           `key:"maxInFlight" least:"1" most:"10000" of:"requests" live:"yes"` // how many requests it is given at a time, while more wait; 0 means DefaultMaxInFlight

	// Pins are what the lock file beside the configuration has of the server.
	Pins lock.Pins
	// Written says as JSON how the file says that the server is started or reached, with its variables as such and
	// without the values of env and headers: what may be kept beside the file.
	Written      json.RawMessage
	LargeResults LargeResults `key:"largeResults" live:"yes"` // what becomes of those that are too large for a model's window

	// Problem, when not nil, says why this one server cannot be used: a variable of its strings is not set, or holds
	// what does not fit. It is an *Error that says where, never a value. What hangs on that variable is not to be used.
	Problem error

	SecretCommands map[string][]string // of those secrets that its strings want and that a program prints
}

// InheritEnv says which variables of workbench's own environment a stdio server gets besides the safe list and its Env:
// all of them, those named, or (the zero value) none.
type InheritEnv struct {
	All   bool
	Names []string
}

// Timeouts bound the work of one server.
type Timeouts struct {
	Start     time.Duration `key:"start"`     // from starting it to the end of the handshake
	Install   time.Duration `key:"install"`   // the same for a package runner, such as npx, that is seen to install
	CallIdle  time.Duration `key:"callIdle"`  // silence within a call; progress starts it anew
	CallTotal time.Duration `key:"callTotal"` // a whole call, whatever its progress
}

// LargeResults says what becomes of the results of tools that are large. The zero value passes them on.
type LargeResults struct {
	Over   int    `key:"over" least:"2000" most:"268435456" of:"tokens"` // how many tokens of four bytes a result may have that is not large; 0 means DefaultLargeResult
	Do     string `key:"do" enum:"pass,preview"`                         // LargePass or LargePreview
	Images string `key:"images" enum:"pass,scale,link"`                  // what becomes of images then
}

// What becomes of large results. The empty string means LargePass.
const (
	LargePass    = "pass"    // they are passed on as they are
	LargePreview = "preview" // they are kept, and a preview is passed on
)

// ToolMode says how the tools of an open toolbox are offered to a client.
type ToolMode string

// The tool modes.
const (
	ToolModeAuto    ToolMode = "auto"    // registered with the client, and callable through workbench_use_tool
	ToolModeDynamic ToolMode = "dynamic" // registered with the client
	ToolModeProxy   ToolMode = "proxy"   // through workbench_use_tool alone
	ToolModeSearch  ToolMode = "search"  // the same, and the client is told of the toolboxes in short
)

// Prefix says what stands before the names of a toolbox's tools and prompts.
type Prefix string

// The prefixes.
const (
	PrefixToolbox Prefix = "toolbox" // toolbox and server
	PrefixNone    Prefix = "none"    // nothing, where the name is then one tool's alone
)

// The names of the servers that are inside workbench.
const (
	BuiltinWorkflow = "workflow"
	BuiltinCommands = "commands"
)

// What a server of commands serves besides a folder.
const (
	CommandsExample = "example"  // the workflow that is inside workbench
	CommandsToolbox = "toolbox:" // and the name of a toolbox: its tools
)

// What holds where the file is silent.
const (
	DefaultOpenTimeout      = 10 * time.Second
	DefaultMaxMessage       = 16 << 20
	DefaultOpenBudget       = 2000
	DefaultStartTimeout     = 30 * time.Second
	DefaultInstallTimeout   = 5 * time.Minute
	DefaultCallIdleTimeout  = 5 * time.Minute
	DefaultCallTotalTimeout = 30 * time.Minute
	DefaultMaxInFlight      = 64
	DefaultLargeResult      = 25000
)

// NeverIdle is the IdleTimeout of a server that is not stopped for idleness.
const NeverIdle time.Duration = -1

// Default returns the built-in configuration: one toolbox, "workflows", with the built-in workflow server alone.
func Default() *Config {
	return &Config{
		ToolMode:    ToolModeAuto,
		OpenTimeout: DefaultOpenTimeout,
		OpenBudget:  DefaultOpenBudget,
		Record:      Record{Mode: RecordMeta, MaxSize: DefaultRecordSize},
		MaxMessage:  DefaultMaxMessage,
		Toolboxes: []Toolbox{{
			Name:        "workflows",
			Prefix:      PrefixToolbox,
			Description: foreign.NewLines("Step-by-step workflows for development tasks"),
			Servers: []Server{{
				Name:       "workflow",
				Transport:  TransportBuiltin,
				Builtin:    BuiltinWorkflow,
				Conditions: "strict",
				Timeouts:   DefaultTimeouts(),
			}},
		}},
	}
}

// DefaultTimeouts are those of a server whose configuration has none.
func DefaultTimeouts() Timeouts {
	return Timeouts{Start: DefaultStartTimeout, Install: DefaultInstallTimeout, CallIdle: DefaultCallIdleTimeout, CallTotal: DefaultCallTotalTimeout}
}

// Toolbox returns the toolbox of that name, or false if there is none.
func (c *Config) Toolbox(name string) (*Toolbox, bool) {
	i := slices.IndexFunc(c.Toolboxes, func(t Toolbox) bool { return t.Name == name })
	if i < 0 {
		return nil, false
	}
	return &c.Toolboxes[i], true
}

// Server returns the server of that name, or false if there is none.
func (t *Toolbox) Server(name string) (*Server, bool) {
	i := slices.IndexFunc(t.Servers, func(s Server) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return &t.Servers[i], true
}

// ToolboxNames are the names of the toolboxes.
func (c *Config) ToolboxNames() (names []string) {
	for i := range c.Toolboxes {
		names = append(names, c.Toolboxes[i].Name)
	}
	return names
}

// ServerNames are the names of the servers.
func (t *Toolbox) ServerNames() (names []string) {
	for i := range t.Servers {
		names = append(names, t.Servers[i].Name)
	}
	return names
}

// Servers gives every server, with its toolbox, in the order of the file.
func (c *Config) Servers() iter.Seq2[*Toolbox, *Server] {
	return func(yield func(*Toolbox, *Server) bool) {
		for i := range c.Toolboxes {
			for k := range c.Toolboxes[i].Servers {
				if !yield(&c.Toolboxes[i], &c.Toolboxes[i].Servers[k]) {
					return
				}
			}
		}
	}
}

// Problems returns the Problem of every server that has one and is not disabled, in the order of the file.
func (c *Config) Problems() []error {
	var problems []error
	for _, s := range c.Servers() {
		if s.Problem != nil && !s.Disabled {
			problems = append(problems, s.Problem)
		}
	}
	return problems
}
