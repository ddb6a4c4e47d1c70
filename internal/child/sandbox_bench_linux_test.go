package child_test

import (
	"io"
	"os"
	"testing"

	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/sandbox"
)

// BenchmarkStart measures how long a process takes from Guard.Start to its first words, with a sandbox and without.
func BenchmarkStart(b *testing.B) {
	g := child.NewGuard([]string{os.Args[0], "helper", "guard"})
	defer g.Close()
	dir := b.TempDir()
	for _, confined := range []bool{false, true} {
		name := "free"
		if confined {
			name = "sandbox"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := child.Spec{Command: "/bin/echo", Args: []string{"x"}, Env: os.Environ(), Dir: dir}
				if confined { // the plan is made anew for each start too
					plan, err := sandbox.NewPlan(sandbox.Request{Program: s.Command, Dir: dir, Env: s.Env, Home: os.Getenv("HOME"), Own: dir, Workspace: true})
					if err != nil {
						b.Fatal(err)
					}
					s.Sandbox = &plan.Rules
				}
				p, err := g.Start(s)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadAll(p.Stdout()); err != nil {
					b.Fatal(err)
				}
				if err := p.Stop(b.Context(), child.Grace{EOF: -1, Term: -1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
