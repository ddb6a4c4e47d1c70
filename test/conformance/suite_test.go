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
	"sync"
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
	runs    io.WriteCloser
	results *bufio.Reader
	said    string // the file that has what the suite prints
}

// idle are the processes of the suite that wait for another test.
var idle struct {
	sync.Mutex
	runners []*runner
}

// runner gives a process of the suite to a test, one that others have used before if there is any.
func (s suite) runner(tb testing.TB) *runner {
	tb.Helper()
	idle.Lock()
	defer idle.Unlock()
	var r *runner
	if last := len(idle.runners) - 1; last >= 0 {
		r, idle.runners = idle.runners[last], idle.runners[:last]
	} else {
		r = s.start(tb)
	}
	tb.Cleanup(func() {
		if tb.Failed() { // it may be stuck, or gone
			_ = r.end()
			return
		}
		idle.Lock()
		defer idle.Unlock()
		idle.runners = append(idle.runners, r)
	})
	return r
}

func (s suite) start(tb testing.TB) *runner {
	tb.Helper()
	folder, err := os.MkdirTemp("", "workbench-suite-")
	if err != nil {
		tb.Fatal(err)
	}
	said, err := os.OpenFile(filepath.Join(folder, "said"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	defer said.Close()
	r := &runner{cmd: exec.Command(s.node, "suite.mjs", s.index()), said: said.Name()}
	r.cmd.Stderr = said
	results, err := r.cmd.StdoutPipe()
	if err == nil {
		r.runs, err = r.cmd.StdinPipe()
	}
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	r.results = bufio.NewReader(results)
	return r
}

// end ends the process, and says what is wrong if it does not end well.
func (r *runner) end() error {
	defer os.RemoveAll(filepath.Dir(r.said))
	_ = r.runs.Close()
	stuck := time.AfterFunc(time.Minute, func() { _ = r.cmd.Process.Kill() })
	defer stuck.Stop()
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", r.cmd, err, r.text())
	}
	return nil
}

// tests are those of this package, at whose end the processes of the suite end.
type tests struct{ *testing.M }

func (m tests) Run() int {
	code := m.M.Run()
	for _, r := range idle.runners {
		code = max(code, report(r.end()))
	}
	return code
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
