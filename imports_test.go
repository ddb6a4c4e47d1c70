package workbench_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/mcp-workbench/workbench"

// rule forbids what the packages below a folder depend on.
type rule struct {
	of     string   // a folder of the module, with all below it
	not    []string // folders of the module, or import paths
	direct bool     // it is about what they import themselves, not about what that brings along
	only   bool     // it is about the package of that folder, not about those below it
	reason string
}

func rules() []rule {
	return []rule{
		{of: "config", not: []string{"toolbox", "proxy", "workflowsrv", "cmd"},
			reason: "config is plain values that everything else is made from"},
		{of: "config", not: []string{"os/exec", "net/http", "log", "log/slog", "github.com/rs/zerolog"},
			reason: "config starts nothing and logs nothing"},
		{of: "toolbox", not: []string{"proxy", "workflowsrv", "host", "cmd"},
			reason: "a toolbox does not know who uses it, nor which servers are built in"},
		{of: "toolbox/offered", not: []string{"toolbox/rpc", "toolbox/link", "toolbox/remote", "toolbox/launch", "net/http"},
			reason: "what a server offers does not depend on how it is reached"},
		{of: "toolbox/rpc", not: []string{"toolbox/offered"},
			reason: "a connection knows calls, and not what they are of"},
		{of: "proxy", direct: true, not: []string{"toolbox/remote", "toolbox/launch"},
			reason: "the front does not know how servers are reached"},
		{of: "workflowsrv", not: []string{"toolbox", "proxy", "host", "cmd"},
			reason: "the workflow server is an MCP server like any other, which could run alone"},
		{of: "proxy", not: []string{"workflowsrv", "host", "cmd"},
			reason: "the front does not know which servers are built in"},
		{of: "proxy", direct: true, not: []string{"os", "os/exec", "internal/child"},
			reason: "the front never starts a process; toolbox does"},
		{of: "proxy", only: true, direct: true, not: []string{"net/http", "proxy/httpfront", "proxy/localfront"},
			reason: "a session does not know how its client comes"},
		{of: "internal", not: []string{"config", "toolbox", "proxy", "workflowsrv", "host", "cmd", "bench", "test"},
			reason: "internal packages are leaves, each of which could be a library of its own"},
		{of: "internal/child/guardian", not: []string{"net"},
			reason: "the guard would be initialised after the packages that it does without"},
		{of: "host", direct: true, not: []string{"os", "os/exec", "cmd"},
			reason: "a host is given what it works with; the environment is cmd's"},
		{of: "cmd", not: []string{"internal/mcptest", "internal/pgtest", "test", "testing"},
			reason: "the program has no tests in it"},
		{of: "", direct: true, not: []string{"github.com/rs/zerolog/log"},
			reason: "a logger is given, not found"},
	}
}

// Imports point one way, so that a package can be read without those that use it.
func TestImports(t *testing.T) {
	imports := listImports(t)
	for _, r := range rules() {
		for _, pkg := range packagesBelow(imports, r.of) {
			if r.only && pkg != module+"/"+r.of {
				continue
			}
			for _, bad := range r.not {
				if chain := reach(imports, pkg, bad, r.direct); chain != nil {
					t.Errorf("%s: %s", strings.Join(chain, " imports "), r.reason)
				}
			}
		}
	}
	for _, pkg := range packagesBelow(imports, "") {
		if direct := imports[pkg]; !below(pkg, "cmd") && slices.ContainsFunc(direct, func(p string) bool { return below(p, "cmd") }) {
			t.Errorf("%s imports %v: nothing but a command imports what commands are made of", pkg, direct)
		}
	}
	for _, user := range packagesBelow(imports, "") {
		if !below(user, "cmd") && slices.Contains(imports[user], "github.com/spf13/cobra") {
			t.Errorf("%s imports cobra: the command line belongs to cmd", user)
		}
	}
}

// commandLevels are the packages below cmd/workbench/internal: one knows those of the levels before its own, and none
// beside it.
func commandLevels() [][]string {
	return [][]string{
		{"terminal", "lifetime", "logfile", "faults"},
		{"cli"},
		{"kept", "tokenfile", "running", "reload"},
		{"opening"},
		{"calls", "checking", "commands", "conversations", "demo", "login", "record", "runs", "secret", "setup", "status", "token", "tools", "top", "trust", "workflow"},
	}
}

// Commands do not know each other: what two of them need is in a package below them.
func TestCommandsDoNotKnowEachOther(t *testing.T) {
	const folder = module + "/cmd/workbench/internal/"
	level := make(map[string]int)
	for i, names := range commandLevels() {
		for _, name := range names {
			level[folder+name] = i + 1
		}
	}
	imports := listImports(t)
	for pkg, at := range level {
		if imports[pkg] == nil {
			t.Errorf("there is no package %s: take it off the levels", pkg)
		}
		for _, other := range imports[pkg] {
			if level[other] >= at {
				t.Errorf("%s imports %s, which is not below it", pkg, other)
			}
		}
	}
	for _, pkg := range packagesBelow(imports, "cmd/workbench/internal") {
		if level[pkg] == 0 {
			t.Errorf("%s is on no level: give it one in commandLevels", pkg)
		}
	}
}

// What is left out of -race has no part of the program in its own process, unless it measures that.
func TestDriversHaveNoPartOfTheProgram(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^DRIVERS := (.+)$`).FindSubmatch(makefile)
	if line == nil {
		t.Fatal("the Makefile does not say which packages are DRIVERS")
	}
	is := regexp.MustCompile(strings.ReplaceAll(string(line[1]), "$$", "$"))
	drivers, imports := 0, listImports(t)
	for _, pkg := range packagesBelow(imports, "") {
		if !is.MatchString(pkg) || below(pkg, "bench") || below(pkg, "test/chaos") {
			continue
		}
		drivers++
		for _, part := range []string{"config", "toolbox", "proxy", "workflowsrv", "host", "cmd"} {
			for _, program := range []string{pkg, pkg + ".test"} {
				if chain := reach(imports, program, part, false); chain != nil {
					t.Errorf("%s: take it off DRIVERS", strings.Join(chain, " imports "))
				}
			}
		}
	}
	if drivers < 10 {
		t.Fatalf("got %d drivers, want all", drivers)
	}
}

// A rule that no package breaks shows nothing unless one that is broken is found.
func TestImportsAreFollowed(t *testing.T) {
	imports := listImports(t)
	if chain := reach(imports, module+"/proxy", "internal/child", false); len(chain) < 3 {
		t.Errorf("got %q from proxy to internal/child, want the way through toolbox", chain)
	}
	if chain := reach(imports, module+"/toolbox", "config", true); len(chain) != 2 {
		t.Errorf("got %q from toolbox to config, want its own import", chain)
	}
	if chain := reach(imports, module+"/proxy.test", "internal/mcptest", false); len(chain) < 3 {
		t.Errorf("got %q from the tests of proxy to internal/mcptest, want the way", chain)
	}
}

// listImports returns what the packages of the module and all that they depend on import. The program of the tests of a
// package is there too, under the package's path with ".test" behind it; what is compiled anew for such a program has its
// name in brackets behind the path.
func listImports(t *testing.T) map[string][]string {
	t.Helper()
	imports, err := listedImports()
	if err != nil {
		t.Fatal(err)
	}
	return imports
}

var listedImports = sync.OnceValues(func() (map[string][]string, error) {
	out, err := exec.Command("go", "list", "-e", "-deps", "-test", "-f", `{{.ImportPath}}|{{join .Imports "|"}}`, "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	imports := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		words := strings.FieldsFunc(line, func(c rune) bool { return c == '|' || c == '\n' })
		imports[words[0]] = words[1:]
	}
	return imports, nil
})

// packagesBelow are the packages of a folder and of those below it, without those of tests.
func packagesBelow(imports map[string][]string, folder string) []string {
	var all []string
	for pkg := range imports {
		if below(pkg, folder) && !strings.HasSuffix(pkg, "]") && !strings.HasSuffix(pkg, ".test") {
			all = append(all, pkg)
		}
	}
	slices.Sort(all)
	return all
}

// below reports whether a package is what a rule names: below a folder of the module, or of that very import path.
func below(pkg, name string) bool {
	pkg, _, _ = strings.Cut(pkg, " [") // of what is compiled anew for tests
	if name == "" {
		return pkg == module || strings.HasPrefix(pkg, module+"/")
	}
	return pkg == name || pkg == module+"/"+name || strings.HasPrefix(pkg, module+"/"+name+"/")
}

// reach returns the shortest way from a package to one that is below name.
func reach(imports map[string][]string, from, name string, direct bool) []string {
	came := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range imports[queue[0]] {
			if _, seen := came[next]; seen {
				continue
			}
			came[next] = queue[0]
			if below(next, name) {
				var chain []string
				for p := next; p != ""; p = came[p] {
					chain = append(chain, p)
				}
				slices.Reverse(chain)
				return chain
			}
			if !direct {
				queue = append(queue, next)
			}
		}
	}
	return nil
}
