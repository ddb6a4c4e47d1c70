package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/logfile"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/secrets"
)

// Streams are standard input, output and error.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Warn tells on standard error what a command goes on in spite of.
func (s Streams) Warn(text string) {
	fmt.Fprintf(s.Err, "workbench: warning: %s\n", foreign.Block(text))
}

// Fault tells on standard error what a command could not do, before it goes on with the rest.
func (s Streams) Fault(text string) {
	fmt.Fprintf(s.Err, "workbench: error: %s\n", foreign.Block(text))
}

// Environment is what a command knows of the world; nothing else in the program touches os.Args, os.Environ or the
// standard streams.
type Environment struct {
	Streams
	Environ    []string
	Program    string // the path of this program
	ConfigPath string // --config
	LogLevel   string
	LogFile    string
	Guard      *child.Guard // starts all child processes
	Secrets    *secrets.Finder
	Logs       logfile.Logs
	Ending     *lifetime.Ending
	// Overlay changes a configuration that was read; nil leaves it as it is.
	Overlay func(*config.Config) error
	Hangups *lifetime.Hangups
	loaded  *config.Config // by loadOnce
	Told    bool           // that the project's file is not used: once is enough
}

// Lookup reads one of our variables.
func (e *Environment) Lookup(name string) (string, bool) {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(e.Environ[i], "="); ok && child.EnvKey(k) == child.EnvKey(name) {
			return v, true
		}
	}
	return "", false
}

// Beside is the same for one more command in this process, which reads nothing, and logs nothing.
func (e *Environment) Beside(out io.Writer) *Environment {
	return &Environment{Streams: Streams{In: strings.NewReader(""), Out: out, Err: io.Discard}, Environ: e.Environ, Program: e.Program, ConfigPath: e.ConfigPath, LogLevel: "off",
		Guard: e.Guard, Secrets: e.Secrets, Ending: e.Ending, Hangups: e.Hangups}
}

// Programs run programs to their end.
func (e *Environment) Programs() child.Runner {
	return child.Runner{Start: e.Guard.Start, Lookup: e.Lookup}
}
