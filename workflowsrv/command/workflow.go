package command

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// A Workflow is a set of commands and the contexts they belong to. It does not change after [Load] or [Project], and
// any number of goroutines may use it.
type Workflow struct {
	// Name, Description and Purpose say what the workflow is, what it does and what it is for.
	Name, Description, Purpose string
	// Startup is the command string that a session begins with; "" is none.
	Startup string
	// Contexts are in the order of their names.
	Contexts []*Context
	// Commands are in the order of their names, without the core commands.
	Commands []*Command
	// Warnings are what is doubtful but carried out.
	Warnings []Fault

	contexts map[string]*Context
	commands map[string]*Command
	own      map[string][]*Command // commands by context
	anywhere []*Command            // those that are there at every place, in the order in which they are looked up
	called   map[string][]*Command // the same by each name, qualified or not, in that order
}

// A Context is a kind of place. One without Key is a group: it has no instances, nobody goes there, and its commands
// are there everywhere.
type Context struct {
	Name, Description string
	// Parent is the kind of place that a place of this kind lies in, "" for the top.
	Parent string
	// Bases are contexts whose commands are there too, unless they are overridden; of two with the same command the
	// first counts.
	Bases []string
	// Key names the values that tell one place of this kind from another.
	Key []string

	title *template
}

// Command is something that can be done.
type Command struct {
	// Name is qualified: Order/cancel_order, or open_order for one that is there everywhere. Context and Leaf are its
	// parts.
	Name, Context, Leaf string
	Description         string
	// Utterances are what people say when they mean this command.
	Utterances []string
	Effect     Effect
	// Confirm says that the user is asked before it runs, however it was called.
	Confirm bool
	// Leave says that the place of its context is left when it has succeeded.
	Leave bool
	// Params are in the order of the file; Schema is the JSON Schema of all of them together, an object.
	Params []Param
	Schema json.RawMessage
	// Bind is what the command does. Core commands have none.
	Bind Binding
	// Outputs are taken from what it returns.
	Outputs []Output

	core      bool
	file      string // where it stands, "" for a projected one
	ownParams bool   // a file says what they are
	unsound   bool   // the file does not keep to the form, so that no more is known than the name
	written   string // the digest of what its files say, "" for a projected one
	reply     *template
	enter     *enter
	judge     func() *criteria.Criteria // nil: nothing can be said about values
	schema    map[string]any            // Schema, decoded
	byName    map[string]*Param
}

// digest tells the command from what an edit, or its server, makes of it.
func (c *Command) digest() string {
	tool := ToolCall{}
	if c.Bind.Tool != nil {
		tool = *c.Bind.Tool
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %s",
		c.written, c.Description, c.Effect, tool.Toolbox, tool.Server, tool.Tool, c.Schema))
	return hex.EncodeToString(sum[:8])
}

// Effect says what running a command does to the world.
type Effect string

// The effects, from the most harmless. Unknown is that of a tool which does not say.
const (
	Read     Effect = "read"     // changes nothing
	Navigate Effect = "navigate" // changes where the session stands
	Write    Effect = "write"    // changes something in the application
	External Effect = "external" // reaches somebody outside, as a mail does
	Unknown  Effect = "unknown"
)

// A Param is a parameter of a command.
type Param struct {
	Name, Description string
	Required          bool
	// Types are JSON types that its values may have; none means any.
	Types []string
	// Examples are documented values. Default stands in for an absent value; nil is none, or the business of the server
	// behind the command.
	Examples []json.RawMessage
	Default  json.RawMessage
	// AvailableFrom are commands that tell the value.
	AvailableFrom []string
	// FromContext names a value of the place where the command runs, which is taken when the call gives none.
	FromContext string
	// Lookup finds the values there are; nil is none.
	Lookup *Lookup

	schema any // its part of Command.Schema
}

// A Lookup asks a tool which values a parameter can have.
type Lookup struct {
	Tool ToolCall
	// Values is where they are in the result: a JSON Pointer in which * stands for every member of an array.
	Values string
}

// An Output is a part of what a command returns, by its JSON Pointer.
type Output struct{ Name, Pointer string }

// enter is the place that a command leads to.
type enter struct {
	context     *Context
	key, values []member
}

// Context returns the named context, nil if there is none.
func (w *Workflow) Context(name string) *Context { return w.contexts[name] }

// Command returns the command of a qualified name, a core command by its bare one, and nil if there is none.
func (w *Workflow) Command(name string) *Command { return w.commands[name] }

// group reports whether the context is one that nobody goes to.
func (c *Context) group() bool { return len(c.Key) == 0 }

// is reports whether a place of this kind is one of the named kind, by name or by a base.
func (w *Workflow) is(context, kind string) bool {
	return slices.Contains(w.lineage(context), kind)
}

// lineage gives a context and its bases, theirs included, nearest first and each once.
func (w *Workflow) lineage(context string) []string {
	list := []string{context}
	for i := 0; i < len(list); i++ {
		c := w.contexts[list[i]]
		if c == nil {
			continue
		}
		for _, base := range c.Bases {
			if !slices.Contains(list, base) {
				list = append(list, base)
			}
		}
	}
	return list
}

// Param returns the named parameter, nil if there is none.
func (c *Command) Param(name string) *Param { return c.byName[name] }

// Enters names the context that the command leads to, "" for none.
func (c *Command) Enters() string {
	if c.enter == nil {
		return ""
	}
	return c.enter.context.Name
}

// qualified is the name of a command of a context, or of none.
func qualified(context, name string) string {
	if context == "" {
		return name
	}
	return context + "/" + name
}

func newWorkflow() *Workflow {
	return &Workflow{contexts: map[string]*Context{}, commands: map[string]*Command{}}
}

// needed reports whether a call at a place has to give the parameter.
func (p *Param) needed(at Path) bool {
	_, known := at.lookup(p.FromContext)
	return p.Required && (p.FromContext == "" || !known)
}

// A filling is a part of a command that values are put into.
type filling struct {
	at    []string // the keys that lead to it in the file
	names []string // of the values
	after bool     // the command has run by then, so that its outputs are there
}

// fillings are those of a command, without those of its parameters.
func (c *Command) fillings() []filling {
	var list []filling
	add := func(after bool, names []string, at ...string) { list = append(list, filling{at, names, after}) }
	if b := c.Bind.Tool; b != nil {
		add(false, b.arguments.names(), "tool", "arguments")
	}
	if b := c.Bind.HTTP; b != nil {
		add(false, b.url.names(), "http", "url")
		for _, m := range b.header {
			add(false, m.text.names(), "http", "headers", m.name)
		}
		add(false, b.body.names(), "http", "body")
	}
	if b := c.Bind.Process; b != nil {
		for _, t := range b.argv {
			add(false, t.names(), "process", "argv")
		}
		for _, m := range b.env {
			add(false, m.text.names(), "process", "env", m.name)
		}
		add(false, b.stdin.names(), "process", "stdin")
	}
	add(true, c.reply.names(), "reply")
	if c.enter != nil {
		for _, m := range c.enter.key {
			add(true, m.text.names(), "enter", "key", m.name)
		}
		for _, m := range c.enter.values {
			add(true, m.text.names(), "enter", "values", m.name)
		}
	}
	return list
}
