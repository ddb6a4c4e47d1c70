// Package release_test installs what a release consists of as people install it, and runs it.
package release_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// nfpm makes the packages of Linux systems. The version is the last whose own modules are all to be had.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.44.0"

// root is the folder of the project.
const root = "../.."

// run runs a program in the project's folder, and returns what it wrote to standard output.
func run(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Dir = root
	// What nfpm shares with the program was built like this already.
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	var told strings.Builder
	command.Stderr = &told
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(arguments, " "), err, out, told.String())
	}
	return string(out)
}

// needs skips a test where a program is not there, but not where all that the tests use was asked for.
func needs(t *testing.T, names ...string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the packages are installed on Linux alone")
	}
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			if name != "dpkg" && os.Getenv("WORKBENCH_REQUIRE_NPM") == "1" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
}

func TestMain(m *testing.M) { os.Exit(wiretest.Main(m, []string{"cmd/workbench"})) }

func TestDebianPackage(t *testing.T) {
	needs(t, "dpkg")
	t.Parallel()
	program, dir := wiretest.Program("workbench"), t.TempDir()
	run(t, program, "man", filepath.Join(dir, "man"))
	// The package is described in one place, to which goreleaser would add what is added here.
	description, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		NFPMs []map[string]any `yaml:"nfpms"`
	}
	if err := yaml.Unmarshal(description, &release); err != nil {
		t.Fatal(err)
	}
	parts := release.NFPMs[0]
	parts["name"], parts["version"], parts["arch"] = parts["package_name"], "1.2.3", runtime.GOARCH
	parts["contents"] = append(parts["contents"].([]any), map[string]any{"src": program, "dst": "/usr/bin/workbench"})
	for _, goreleasers := range []string{"package_name", "formats", "bindir"} {
		delete(parts, goreleasers)
	}
	text, err := yaml.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.ReplaceAll(string(text), "dist-man/", filepath.Join(dir, "man")+"/"))
	config, packager := filepath.Join(dir, "nfpm.yaml"), filepath.Join(dir, "nfpm")
	run(t, "go", "run", "-exec", "cp", nfpm, packager) // it is to be found and checked once, not for each form
	for _, form := range []string{"deb", "rpm", "apk"} {
		if err := os.WriteFile(config, text, 0o600); err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte(program), []byte("LICENSE")) // what is not installed is soon packed
		run(t, packager, "package", "--config", config, "--packager", form, "--target", filepath.Join(dir, "workbench."+form))
	}

	clean := filepath.Join(dir, "root")
	for _, folder := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(clean, "var/lib/dpkg", folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(clean, "var/lib/dpkg/status"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "dpkg", "--root="+clean, "--log="+filepath.Join(dir, "log"), "--force-not-root", "--force-bad-path", "--force-architecture",
		"--install", filepath.Join(dir, "workbench.deb"))
	works(t, filepath.Join(clean, "usr/bin/workbench"))
	for _, name := range []string{
		"usr/share/man/man1/workbench.1", "usr/share/man/man1/workbench-serve.1", "usr/share/doc/workbench/copyright",
		"usr/share/doc/workbench/docs/operations.md", "usr/lib/systemd/user/workbench.service",
	} {
		if _, err := os.Stat(filepath.Join(clean, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestNpmPackage(t *testing.T) {
	needs(t, "npm", "node")
	t.Parallel()
	dir := t.TempDir()
	// npm takes seconds to pack the program itself. What stands for it here has all the ways that lead to it.
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec '"+wiretest.Program("workbench")+"' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]any{
		"metadata.json":  map[string]string{"version": "1.2.3"},
		"artifacts.json": []map[string]string{{"type": "Binary", "goos": runtime.GOOS, "goarch": runtime.GOARCH, "path": program}},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(wiretest.JSON(list)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "node", "release/npm/pack.js", dir)
	packages, err := filepath.Glob(filepath.Join(dir, "npm/*.tgz"))
	if err != nil || len(packages) != 2 {
		t.Fatalf("got %q, %v, want the package and that of this system's program", packages, err)
	}
	clean := filepath.Join(dir, "root")
	if err := os.Mkdir(clean, 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, "npm", append([]string{"install", "--prefix", clean, "--offline", "--no-audit", "--no-fund",
		"--cache", filepath.Join(dir, "cache")}, packages...)...)
	installed := filepath.Join(clean, "node_modules/.bin/workbench")
	works(t, installed)

	// Exit codes come through.
	command := exec.CommandContext(t.Context(), installed, "no-such-command")
	if err := command.Run(); command.ProcessState.ExitCode() != 2 {
		t.Errorf("a wrong command ended with %v, want status 2", err)
	}
	// Without the package of the system's program, what to do is said.
	if err := os.RemoveAll(filepath.Join(clean, "node_modules/@mcp-workbench", "workbench-linux-"+processor())); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), installed, "version").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "workbench: hint: install again without --omit=optional") {
		t.Errorf("got %s, %v, want a hint", out, err)
	}
}

// processor is what Node calls this machine's.
func processor() string {
	if runtime.GOARCH == "amd64" {
		return "x64"
	}
	return runtime.GOARCH
}

// works asks an installed program for its version, and as a client for its name.
func works(t *testing.T, program string) {
	t.Helper()
	if out := run(t, program, "version"); !strings.HasPrefix(out, "workbench ") {
		t.Errorf("got %s, want the version", out)
	}
	home := t.TempDir()
	config := filepath.Join(home, "workbench-config.json")
	if err := os.WriteFile(config, []byte(`{"toolboxes":{"own":{"description":"d","mcpServers":{"w":{"builtin":"workflow"}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, "serve", "--config", config)
	command.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_RUNTIME_DIR="+home)
	command.Stdin = strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":%s}`+"\n",
		`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
	var told strings.Builder
	command.Stderr = &told
	out, err := command.Output()
	if err != nil || !strings.Contains(string(out), `"instructions":"Available Toolboxes:\n`) || !strings.Contains(string(out), "own (1 servers)") {
		t.Errorf("the installed program answered %s, %v\n%s", out, err, told.String())
	}
}
