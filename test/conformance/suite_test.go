package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// suite is the installed conformance suite and the Node that runs it.
type suite struct{ node, folder string }

// newSuite finds them. Without them it skips the test, or fails it where npm packages are required.
func newSuite(tb testing.TB) suite {
	tb.Helper()
	if runtime.GOOS == "windows" {
		tb.Skip("the gateway is ended by an interrupt, which Windows has not for one process")
	}
	npm, err := filepath.Abs(filepath.Join("..", "npm", "node_modules"))
	if err != nil {
		tb.Fatal(err)
	}
	s := suite{folder: filepath.Join(npm, "@modelcontextprotocol", "conformance")}
	if _, err = os.Stat(s.index()); err == nil {
		var version int
		if s.node, version, err = wiretest.Node(); err == nil && version < 22 {
			err = fmt.Errorf("Node 22 or later is needed, found %d", version)
		}
	}
	if err == nil {
		return s
	}
	// Elsewhere the Node that the suite needs is not among the packages.
	if os.Getenv("WORKBENCH_REQUIRE_NPM") == "1" && runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		tb.Fatalf("the conformance suite is required and cannot run: %v", err)
	}
	tb.Skipf("the conformance suite is not installed (make test does it) or cannot run: %v", err)
	return s
}

// index is the program of the suite.
func (s suite) index() string { return filepath.Join(s.folder, "dist", "index.js") }

// scenario is what came of one scenario.
type scenario struct {
	Name     string
	Passed   int      // checks
	Problems []string // checks that failed or warn
}

func (s scenario) ok() bool { return s.Passed > 0 && len(s.Problems) == 0 }

// runner is a process of the suite, which does one run after another: most of what a run would take in a process of its
// own is the start of the suite.
type runner struct {
	cmd     *exec.Cmd
	runs    io.Writer
	results *bufio.Reader
	said    string // the file that has what the suite prints
}

// start starts a process of the suite, which ends with the test.
func (s suite) start(tb testing.TB) *runner {
	tb.Helper()
	said, err := os.OpenFile(filepath.Join(tb.TempDir(), "said"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	defer said.Close()
	r := &runner{cmd: exec.Command(s.node, "suite.mjs", s.index()), said: said.Name()}
	r.cmd.Stderr = said
	runs, err := r.cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	results, err := r.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	r.runs, r.results = runs, bufio.NewReader(results)
	tb.Cleanup(func() {
		_ = runs.Close()
		stuck := time.AfterFunc(time.Minute, func() { _ = r.cmd.Process.Kill() })
		defer stuck.Stop()
		if err := r.cmd.Wait(); err != nil && !tb.Failed() {
			tb.Errorf("%s: %v\n%s", r.cmd, err, r.text())
		}
	})
	return r
}

func (r *runner) text() string {
	text, err := os.ReadFile(r.said)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// run runs a part of the suite, "server" or "client", to its end and returns what came of each scenario. That some
// failed is no error here.
func (r *runner) run(tb testing.TB, env map[string]string, part string, args ...string) []scenario {
	tb.Helper()
	results := tb.TempDir()
	args = append([]string{part, "--output-dir", results}, args...)
	if err := os.Truncate(r.said, 0); err != nil {
		tb.Fatal(err)
	}
	stuck := time.AfterFunc(5*time.Minute, func() { _ = r.cmd.Process.Kill() })
	defer stuck.Stop()
	_, err := fmt.Fprintln(r.runs, wiretest.JSON(map[string]any{"args": args, "env": env}))
	var code string
	if err == nil {
		code, err = r.results.ReadString('\n')
	}
	if code = strings.TrimSpace(code); err != nil || code != "0" && code != "1" {
		tb.Fatalf("%q: got exit code %q, %v\n%s", args, code, err, r.text())
	}
	scenarios, err := readResults(results, part)
	if err != nil || len(scenarios) == 0 {
		tb.Fatalf("%q: got %d results, %v\n%s", args, len(scenarios), err, r.text())
	}
	return scenarios
}

// resultFolder is how the suite names the folder of a scenario's results; those of servers have "server-" in front.
var resultFolder = regexp.MustCompile(`^(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

func readResults(folder, part string) (scenarios []scenario, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "checks.json" {
			return err
		}
		name, err := filepath.Rel(folder, filepath.Dir(path))
		if err != nil {
			return err
		}
		parts := resultFolder.FindStringSubmatch(filepath.ToSlash(name))
		if parts == nil {
			return fmt.Errorf("unexpected folder %s", name)
		}
		s, err := readChecks(path)
		s.Name = parts[1]
		if part == "server" {
			s.Name = strings.TrimPrefix(s.Name, "server-")
		}
		scenarios = append(scenarios, s)
		return err
	})
	return scenarios, err
}

func readChecks(path string) (s scenario, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	var checks []struct {
		ID, Status, ErrorMessage string
		Details                  json.RawMessage
	}
	if err := json.Unmarshal(text, &checks); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			s.Passed++
		case "FAILURE", "WARNING":
			var details bytes.Buffer
			_ = json.Compact(&details, c.Details) // only for the reader of a failure
			s.Problems = append(s.Problems, fmt.Sprintf("%s %s: %s %.300s", c.Status, c.ID, c.ErrorMessage, details.String()))
		}
	}
	return s, nil
}

// required reads which scenarios of a part a revision requires, if the suite has a list of them.
func (s suite) required(tb testing.TB, r revision, part string) []string {
	tb.Helper()
	if !r.listed {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(s.folder, "requirements", r.name+".yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	var requirements struct{ Server, Client []string }
	if err := yaml.Unmarshal(text, &requirements); err != nil {
		tb.Fatal(err)
	}
	if part == "server" {
		return requirements.Server
	}
	return requirements.Client
}
