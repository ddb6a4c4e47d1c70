package diagnosis

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/runner"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	Fault   Level = "fault"   // it will not work
	Warning Level = "warning" // it may not do what is wanted
	Note    Level = "note"    // a person should look at it; nothing need be wrong
)

// A Finding is one thing that is wrong, or that a person should look at.
type Finding struct {
	Level   Level  `json:"level"`
	Toolbox string `json:"toolbox,omitempty"`
	Server  string `json:"server,omitempty"`
	Client  string `json:"client,omitempty"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
	Fixed   bool   `json:"fixed,omitempty"` // it was mended

	// Fix mends it without a risk for anything else; nil if only a person can.
	Fix func() error `json:"-"`
}

// Server is how a server is started or reached.
type Server struct {
	Command string
	Args    []string
	Env     []string          // the whole environment it gets, KEY=VALUE
	Given   map[string]string // the part of it that its entry gives
	Cwd     string
	URL     string
	Headers map[string]string
}

// Look says what is wrong with a server, without starting it.
func (s Server) Look() []Finding {
	if s.URL != "" {
		return append(s.address(), s.texts()...)
	}
	return append(s.program(), append(s.arguments(), s.texts()...)...)
}

// program looks whether the program can be started.
func (s Server) program() []Finding {
	spec := child.Spec{Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Cwd}
	err := spec.Look()
	var bad *child.StartError
	if !errors.As(err, &bad) {
		return nil
	}
	reason, remedy, _ := strings.Cut(bad.Reason, "; ")
	f := Finding{Level: Fault, Message: "its program cannot be started: " + foreign.NewText(reason).String(), Remedy: remedy}
	switch _, cwdErr := os.Stat(s.Cwd); {
	case s.Cwd != "" && cwdErr != nil:
		f.Message, f.Remedy = fmt.Sprintf("its working directory %s is not there", foreign.NewName(s.Cwd)), `make that folder, or correct "cwd"`
	case errors.Is(err, fs.ErrPermission) && filepath.IsAbs(s.Command) && isFile(s.Command):
		f.Fix = func() error { return openfile.LetRun(s.Command) }
	case f.Remedy == "":
		f.Remedy = `correct its "command", "args" or "cwd"`
	}
	return []Finding{f}
}

var (
	// shellVar is what a shell, or a command line of Windows, would fill in.
	shellVar = regexp.MustCompile(`^\$[A-Za-z_]+|[/=:]\$[A-Za-z_]\w*|%[A-Za-z_]\w*%|\$env:\w+`)
	// otherVar is a variable as other clients write it.
	otherVar = regexp.MustCompile(`\$\{(env|input|workspaceFolder|userHome)[:}]|\{env:\w+\}`)
	// placeholder is what a manual has in place of a value of one's own.
	placeholder = regexp.MustCompile(`(?i)^<[^<>]+>$|\byour[-_ ](api[-_ ]?)?(key|token|secret|password|name|project|id)\b|\b(YOUR|MY)_[A-Z_]*(KEY|TOKEN|SECRET)\b|^/path/to(/|$)|\bxxxx+\b|\bchange[-_]?me\b`)
)

// arguments looks at what stands in the command line and no shell will fill in.
func (s Server) arguments() (found []Finding) {
	for i, arg := range s.Args {
		warn := func(message, remedy string) {
			found = append(found, Finding{Level: Warning, Message: fmt.Sprintf("args[%d], %s", i, message), Remedy: remedy})
		}
		switch name := foreign.NewName(arg); {
		case arg == "~" || strings.HasPrefix(arg, "~/"):
			warn(fmt.Sprintf("%q: no shell replaces the ~", name), "write ${HOME} for it")
		case shellVar.MatchString(arg) && s.Command != "sh" && s.Command != "bash":
			warn(fmt.Sprintf("%q, reaches the server unchanged: there is no shell", name), "write ${NAME} for a variable")
		case otherVar.MatchString(arg):
			warn(fmt.Sprintf("%q, is how another client writes a variable", name), "write ${NAME}")
		case placeholder.MatchString(arg):
			warn(fmt.Sprintf("%q, looks like the placeholder of a manual", name), "put your own value there")
		case filepath.IsAbs(arg) && !strings.ContainsAny(arg, "*?") && !there(arg) && !there(filepath.Dir(arg)):
			warn(fmt.Sprintf("%q: there is no such file or folder", name), "correct the path, or make it")
		}
	}
	found = append(found, s.handedOn()...)
	if r := runner.Of(s.Command, s.Args); r != nil && r.Package == "" {
		found = append(found, Finding{Level: Warning, Message: fmt.Sprintf("%s is not told which package to run", r.Name), Remedy: `name it in "args"`})
	}
	return found
}

// handedOn looks for variables that docker is to hand on and does not get itself.
func (s Server) handedOn() (found []Finding) {
	if r := runner.Of(s.Command, s.Args); r == nil || r.Name != "docker" && r.Name != "podman" {
		return nil
	}
	for i, arg := range s.Args {
		if (arg == "-e" || arg == "--env") && i+1 < len(s.Args) {
			name := s.Args[i+1]
			if _, isThere := child.Getenv(s.Env, name); !isThere && !strings.Contains(name, "=") {
				found = append(found, Finding{Level: Warning, Message: fmt.Sprintf("%s is passed on by -e, and is not in the environment of the server", foreign.NewName(name)),
					Remedy: `add it to "env", or its name to "inheritEnv"`})
			}
		}
	}
	return found
}

// texts looks at values of variables and headers. No value is shown: it may be a secret.
func (s Server) texts() (found []Finding) {
	look := func(what string, values map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			value := values[name]
			at := fmt.Sprintf("%s %s", what, foreign.NewName(name))
			switch {
			case value == "":
				found = append(found, Finding{Level: Warning, Message: at + " is empty", Remedy: "give it a value, or remove it"})
			case placeholder.MatchString(value):
				found = append(found, Finding{Level: Warning, Message: at + " looks like the placeholder of a manual", Remedy: "put your own value there"})
			case otherVar.MatchString(value), shellVar.MatchString(value) && what != "variable":
				found = append(found, Finding{Level: Warning, Message: at + " holds a variable as a shell or another client writes it", Remedy: "write ${NAME}"})
			case strings.TrimSpace(value) != value:
				found = append(found, Finding{Level: Warning, Message: at + " begins or ends with a blank", Remedy: "remove the blank"})
			case what == "header" && strings.EqualFold(name, "Authorization") && !strings.Contains(value, " "):
				found = append(found, Finding{Level: Warning, Message: at + " names no scheme", Remedy: `write "Bearer ${TOKEN}", unless the server wants the bare token`})
			}
		}
	}
	look("variable", s.Given)
	look("header", s.Headers)
	return found
}

// dialTime is how long a server on this machine is given to take a connection.
const dialTime = time.Second

// address looks at a url, and whether anybody listens if it is of this machine.
func (s Server) address() (found []Finding) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil // which the configuration has told
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	local := host == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case ip != nil && ip.IsUnspecified():
		found = append(found, Finding{Level: Warning, Message: fmt.Sprintf("its url names %s, which is an address for listening and not for connecting", host), Remedy: "write 127.0.0.1"})
	case !local && u.Scheme == "http" && len(s.Headers) > 0:
		found = append(found, Finding{Level: Warning, Message: "its headers go over the network unencrypted", Remedy: "write https, if the server has it"})
	case placeholder.MatchString(host) || strings.HasPrefix(host, "example."):
		found = append(found, Finding{Level: Warning, Message: fmt.Sprintf("the host %s looks like the placeholder of a manual", foreign.NewName(host)), Remedy: "put your own there"})
	}
	if !local {
		return found
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	c, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), dialTime)
	if err != nil {
		return append(found, Finding{Level: Warning, Message: fmt.Sprintf("nothing listens at %s", net.JoinHostPort(host, port)), Remedy: "start the server, or correct the port in its url"})
	}
	_ = c.Close()
	return found
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Torn finds what ended installations have left in npm's cache.
func Torn(environ []string) (found []Finding) {
	for _, dir := range runner.Torn(environ) {
		found = append(found, Finding{Level: Fault, Message: fmt.Sprintf("an interrupted installation of npx has left %s incomplete", dir),
			Remedy: "remove that folder; npx makes it again", Fix: func() error { return os.RemoveAll(dir) }})
	}
	return found
}
