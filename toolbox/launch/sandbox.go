package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/sandbox"
	"github.com/mcp-workbench/workbench/internal/userdir"
)

// UnenforcedError says that a server does not start because its sandbox would have gaps.
type UnenforcedError struct {
	Parts []string // what cannot be enforced
}

func (e *UnenforcedError) Error() string {
	return fmt.Sprintf(`its sandbox cannot be enforced here: %s; to start it anyway, write "bestEffort": true into "sandbox"`, strings.Join(e.Parts, "; "))
}

// Sandbox is what the sandbox of a server comes to on this system.
type Sandbox struct {
	Rules   sandbox.Rules
	Missing []string // what of it cannot be enforced

	bestEffort bool
	request    sandbox.Request
	env        []string
}

// Gap is why the server does not start in this sandbox, an [UnenforcedError]; nil if it does.
func (s *Sandbox) Gap() error {
	if len(s.Missing) == 0 || s.bestEffort {
		return nil
	}
	return &UnenforcedError{s.Missing}
}

// PlanSandbox says what the sandbox of a server of a toolbox comes to; nil if it has none. environ is the environment
// of workbench, and folder the one that the folders of the servers' own are in. Nothing is made or changed.
func PlanSandbox(box string, cfg config.Server, environ []string, folder string) (*Sandbox, error) {
	if cfg.Sandbox.Preset == "" {
		return nil, nil
	}
	dir := cfg.Cwd
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("sandbox: %w", err)
		}
	}
	if folder == "" {
		return nil, fmt.Errorf("sandbox: there is no folder for the server's own files: %w", userdir.ErrNone)
	}
	env := Environment(cfg, environ)
	program, err := child.Spec{Command: cfg.Command, Env: env, Dir: cfg.Cwd}.Path()
	if err != nil {
		return nil, err
	}
	home := userdir.Home(func(name string) (string, bool) { return child.Getenv(environ, name) })
	q := sandbox.Request{
		Program: program, Args: cfg.Args, Dir: dir, Env: env, Home: home,
		Own:       filepath.Join(folder, catalogue.Digest([]byte(strings.Join([]string{box, cfg.Name, dir}, "\x00")))[:16]),
		Workspace: cfg.Sandbox.Preset == config.SandboxWorkspace,
		Read:      cfg.Sandbox.Read, Write: cfg.Sandbox.Write,
		Network: cfg.Sandbox.Network.All, To: cfg.Sandbox.Network.To,
	}
	plan, err := sandbox.NewPlan(q)
	if err != nil {
		return nil, err
	}
	return &Sandbox{
		Rules:   plan.Rules,
		Missing: slices.Concat(plan.Rules.Missing(), plan.Beyond),
		request: q, bestEffort: cfg.Sandbox.BestEffort,
		env: declare(plan.Env, cfg.Env),
	}, nil
}

// Child is what starts the process of a server of a toolbox, in its sandbox if it has one. environ and folder are those
// of [PlanSandbox].
func Child(box string, cfg config.Server, environ []string, folder string) (child.Spec, error) {
	spec := child.Spec{Command: cfg.Command, Args: cfg.Args, Env: Environment(cfg, environ), Dir: cfg.Cwd}
	plan, err := PlanSandbox(box, cfg, environ, folder)
	if plan == nil || err != nil {
		return spec, err
	}
	if err := plan.Gap(); err != nil {
		return spec, err
	}
	if err := plan.request.Prepare(); err != nil {
		return spec, fmt.Errorf("sandbox: %w", err)
	}
	spec.Sandbox, spec.Env = &plan.Rules, plan.env
	return spec, nil
}
