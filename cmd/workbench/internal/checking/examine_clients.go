package checking

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/clients"
	"github.com/mcp-workbench/workbench/internal/diagnosis"
	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/toolbox/launch"
)

// examinedClient is a client of this machine that has a file of servers.
type examinedClient struct {
	Client string `json:"client"`
	File   string `json:"file"`
	Entry  string `json:"entry"` // "there", "missing" or "fault"
}

// programOf finds the program of a server as its start does.
func programOf(s config.Server, environ []string) (string, error) {
	return child.Spec{Command: s.Command, Args: s.Args, Env: launch.Environment(s, environ), Dir: s.Cwd}.Path()
}

// examineClients looks at the files of the clients of this machine: whether workbench is in them, once, as a program
// that is there.
func examineClients(e *opening.Environment, x *examined, cfg *config.Config) {
	sys := clients.System{GOOS: runtime.GOOS, Lookup: e.Lookup}
	desktop := false
	for _, c := range clients.All() {
		for _, path := range sys.UserPaths(c) {
			if strings.Contains(path, "*") {
				continue
			}
			data, _, err := openfile.Read(path, document.MaxSettings)
			if err != nil {
				continue // the client is not here, or its file is not ours to read
			}
			one := examinedClient{Client: c.Name, File: path, Entry: "missing"}
			entries, _, err := clients.Read(clients.Source{Client: &c, Path: path, Data: data, System: sys})
			if err != nil {
				one.Entry = "fault"
				x.Findings = append(x.Findings, diagnosis.Finding{Level: diagnosis.Fault, Client: c.Name,
					Message: fmt.Sprintf("the file of %s cannot be read: %v", c.Title, err), Remedy: "correct the file at that place; the client cannot read it either"})
			}
			var ours []clients.Entry
			for _, entry := range entries {
				if entry.Workbench() && entry.Project == "" {
					ours = append(ours, entry)
				}
			}
			if len(ours) > 0 {
				one.Entry = "there"
				for _, f := range examineEntries(e, c, path, ours) {
					one.Entry = "fault"
					x.Findings = append(x.Findings, f)
				}
				x.doubled(cfg, c, entries)
			}
			x.Clients = append(x.Clients, one)
			if len(ours) > 0 && c.Desktop && !desktop && runtime.GOOS != "windows" {
				desktop = true
				beyondDesktop(e, x, cfg, c.Title, desktopPath(runtime.GOOS))
			}
			break // the first that is there is the client's
		}
	}
}

// examineEntries looks at the entries that a client has for workbench.
func examineEntries(e *opening.Environment, c clients.Client, path string, ours []clients.Entry) (found []diagnosis.Finding) {
	finding := func(message, remedy string) {
		found = append(found, diagnosis.Finding{Level: diagnosis.Fault, Client: c.Name, Message: fmt.Sprintf("%s:%d: %s", path, ours[0].Line, message), Remedy: remedy})
	}
	if len(ours) > 1 {
		finding(fmt.Sprintf("%s has workbench twice, as %q and as %q", c.Title, foreign.NewName(ours[0].Name), foreign.NewName(ours[1].Name)), "remove one of the two: each starts all servers")
	}
	entry := ours[0].Server
	if entry.URL != "" {
		return found
	}
	switch _, err := os.Stat(entry.Command); {
	case filepath.IsAbs(entry.Command) && err != nil:
		finding(fmt.Sprintf("%s starts %s, which is not there", c.Title, foreign.NewName(entry.Command)), "workbench connect "+c.Name+" writes where it is now")
	case !filepath.IsAbs(entry.Command) && c.Desktop:
		finding(fmt.Sprintf("%s starts %q, which programs started from a desktop may not find", c.Title, foreign.NewName(entry.Command)), "workbench connect "+c.Name+" writes its full path")
	case filepath.IsAbs(entry.Command) && !cli.IsSameFile(e.Program, entry.Command):
		found = append(found, diagnosis.Finding{Level: diagnosis.Warning, Client: c.Name, Message: fmt.Sprintf("%s:%d: %s starts %s, which is not this workbench", path, ours[0].Line, c.Title, foreign.NewName(entry.Command)),
			Remedy: "workbench connect " + c.Name + " writes this one"})
	}
	if names := c.Lacking(entry, e.Needs()); names != nil {
		found = append(found, diagnosis.Finding{Level: diagnosis.Warning, Client: c.Name,
			Message: fmt.Sprintf("%s:%d: %s does not pass on what the configuration wants of the environment: %s", path, ours[0].Line, c.Title, strings.Join(names, ", ")),
			Remedy:  "workbench connect " + c.Name + " has it pass them on"})
	}
	for i, arg := range entry.Args {
		name, with := strings.CutPrefix(arg, "--config=")
		if arg == "--config" && i+1 < len(entry.Args) {
			name, with = entry.Args[i+1], true
		}
		if _, err := os.Stat(name); with && filepath.IsAbs(name) && err != nil {
			finding(fmt.Sprintf("%s starts it with the configuration %s, which is not there", c.Title, foreign.NewName(name)), "correct the path, or workbench connect "+c.Name)
		}
	}
	return found
}

// doubled finds servers that a client has itself and by workbench.
func (x *examined) doubled(cfg *config.Config, c clients.Client, entries []clients.Entry) {
	for _, entry := range entries {
		if entry.Workbench() || entry.Server.Disabled {
			continue
		}
		for t, s := range cfg.Servers() {
			same := entry.Server.URL != "" && entry.Server.URL == s.URL ||
				entry.Server.URL == "" && s.Command != "" && filepath.Base(entry.Server.Command) == filepath.Base(s.Command) && slices.Equal(entry.Server.Args, s.Args)
			if same && !s.Disabled && s.Problem == nil { // of an entry with a problem not all was read
				x.Findings = append(x.Findings, diagnosis.Finding{Level: diagnosis.Warning, Toolbox: t.Name, Server: s.Name, Client: c.Name,
					Message: fmt.Sprintf("%s has it itself too, as %q (%s:%d)", c.Title, foreign.NewName(entry.Name), entry.File, entry.Line), Remedy: "remove it there: its tools are offered twice"})
			}
		}
	}
}
