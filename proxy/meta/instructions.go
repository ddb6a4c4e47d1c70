package meta

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

const noDescription = "No description provided"

// Instructions gives the text that tells a client which toolboxes there are, to the letter of the protocol contract: in
// the order of the configuration, with the number of configured servers. In toolMode "search" it is the same of as many
// toolboxes as there is room for.
func Instructions(cfg *config.Config) string {
	if len(cfg.Toolboxes) == 0 {
		return "No toolboxes configured.\n\nTo configure toolboxes, add them to your workbench-config.json file.\nSee documentation for configuration format." + untrusted(cfg)
	}
	if cfg.ToolMode == config.ToolModeSearch {
		return briefInstructions(cfg.Toolboxes) + unusable(cfg.Toolboxes) + untrusted(cfg)
	}
	var b strings.Builder
	b.WriteString(introducing)
	for i := range cfg.Toolboxes {
		b.WriteString(presented(&cfg.Toolboxes[i]))
	}
	b.WriteString(howToOpen)
	if cfg.Unconfigured {
		b.WriteString(unconfigured)
	}
	return b.String() + unusable(cfg.Toolboxes) + untrusted(cfg)
}

// unconfigured is what the client is told of the built-in configuration.
const unconfigured = "\n\nNote: the user has configured no servers yet. `workbench import` copies those of other clients, `workbench add` adds one."

// untrusted says of the project's configuration that it is not used until the user has trusted it.
func untrusted(cfg *config.Config) string {
	if cfg.Untrusted == nil {
		return ""
	}
	return "\n\n" + UntrustedAdvice(cfg.Untrusted)
}

// UntrustedAdvice says to a model that a configuration is not used, and whose business that is.
func UntrustedAdvice(u *config.Untrusted) string {
	return fmt.Sprintf("Note: %s. Nothing in it is started. The user, not you, has to look at it and decide: %s.", u, u.Hint())
}

// The text of the contract, around what presented says of each toolbox.
const (
	introducing = "Available Toolboxes:\n\n"
	howToOpen   = "To access tools from a toolbox, use workbench_open_toolbox with the toolbox name."
)

func presented(t *config.Toolbox) string {
	return fmt.Sprintf("%s (%d servers)\n  Description: %s\n\n", t.Name, len(t.Servers), Describe(t.Description))
}

// maxUnusable is how many servers are named that cannot be used.
const maxUnusable = 10

// unusable says which servers cannot be used as they are configured, and why.
func unusable(boxes []config.Toolbox) string {
	var b strings.Builder
	n := 0
	for _, t := range boxes {
		for _, s := range t.Servers {
			if s.Problem == nil || s.Disabled {
				continue
			}
			if n++; n <= maxUnusable {
				fmt.Fprintf(&b, "\n- %s/%s: %s", t.Name, s.Name, foreign.NewText(s.Problem.Error()))
			}
		}
	}
	if n > maxUnusable {
		fmt.Fprintf(&b, "\n- and %d more", n-maxUnusable)
	}
	if n == 0 {
		return ""
	}
	return "\n\nServers that cannot be used until the user corrects their entry in the configuration:" + b.String()
}

// maxTitle and maxIntroduction keep what workbench says of itself short, in bytes.
const (
	maxTitle        = 100
	maxIntroduction = 1000
)

// Introduction gives the title and the description by which workbench presents itself: they name the toolboxes.
func Introduction(toolboxes []config.Toolbox) (title, description string) {
	if len(toolboxes) == 0 {
		return "Workbench", "No toolboxes"
	}
	var names, purposes []string
	for _, t := range toolboxes {
		names = append(names, t.Name)
		if t.Description.IsEmpty() {
			purposes = append(purposes, t.Name)
		} else {
			purposes = append(purposes, fmt.Sprintf("%s (%s)", t.Name, t.Description))
		}
	}
	return cut.At("Workbench: "+strings.Join(names, ", "), maxTitle), cut.At("Toolboxes: "+strings.Join(purposes, ", "), maxIntroduction)
}

// DirectInstructions is for a client that was given one toolbox.
func DirectInstructions(cfg *config.Config, t *config.Toolbox) string {
	return fmt.Sprintf("Toolbox %s (%d servers)\n  Description: %s\n\nIts tools are listed; call them by their names.",
		t.Name, len(t.Servers), Describe(t.Description)) + commands(t) + unusable([]config.Toolbox{*t}) + untrusted(cfg)
}

// commands says how to begin where a toolbox has a server of commands, whose tools are of no use in another order.
func commands(t *config.Toolbox) string {
	for _, s := range t.Servers {
		if s.Builtin == "commands" && !s.Disabled && s.Problem == nil {
			return "\n\nCall initialize first and give its session_id in every other call. get_commands lists what can be done in the session's current context; " +
				"run_command runs a command by name with JSON, execute_command as a string, invoke_assistant from an instruction in words. " +
				"Commands may move the session to another context, which has other commands."
		}
	}
	return ""
}

// Describe gives the description of a toolbox, or says that it has none.
func Describe(d foreign.Lines) string {
	if d.IsEmpty() {
		return noDescription
	}
	return d.String()
}

// Denied is what a user is told who may use no toolbox.
const Denied = "No toolbox is available to you: ask whoever runs this workbench for the right to use one"

// Available says which toolboxes there are, the likest to name first said.
func Available(cfg *config.Config, name string) string {
	if len(cfg.Toolboxes) == 0 {
		return "no toolboxes are configured: add them to workbench-config.json" + notUsed(cfg)
	}
	var names []string
	for _, t := range cfg.Toolboxes {
		names = append(names, t.Name)
	}
	s := "available toolboxes: " + strings.Join(names, ", ")
	if whose := Holder(cfg, name); whose != "" {
		return whose + ": name the toolbox; " + s + notUsed(cfg)
	}
	if near := nearest.Names(name, names, 1); near != nil {
		s = fmt.Sprintf("did you mean %q? %s", near[0], s)
	}
	return s + notUsed(cfg)
}

// Holder says which toolbox has the server of a name; "" if none has.
func Holder(cfg *config.Config, server string) string {
	for _, t := range cfg.Toolboxes {
		if slices.ContainsFunc(t.Servers, func(srv config.Server) bool { return srv.Name == server }) {
			return fmt.Sprintf("%q is a server of toolbox %q", server, t.Name)
		}
	}
	return ""
}

// notUsed says that there may be toolboxes in a file that is not used.
func notUsed(cfg *config.Config) (said string) {
	if cfg.Untrusted != nil {
		said = "; " + cfg.Untrusted.String() + " (" + cfg.Untrusted.Hint() + ")"
	}
	if fault := Fault(cfg); fault != "" {
		said += "; " + fault
	}
	return said
}

// maxFault is how much of what is wrong with a configuration a model is told, in bytes.
const maxFault = 300

// Fault says that an edit of the configuration is not in use, and why; "" if there is none.
func Fault(cfg *config.Config) string {
	if cfg.Fault == "" {
		return ""
	}
	first, _, more := strings.Cut(cfg.Fault, "\n")
	said := "the configuration as it is now has a fault, and the one before is in use: " + cut.At(foreign.NewText(first).String(), maxFault)
	if more {
		said += " (workbench check names all faults)"
	}
	return said
}
