package conformance

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// noSleep, as GORACE, has a program that was built with -race end at once and not after a second.
const noSleep = "atexit_sleep_ms=0"

// entry is a server in a configuration.
type entry map[string]any

// fixtureEntry is the fixture, speaking "legacy", "modern" or "both" eras.
func fixtureEntry(tb testing.TB, era string) entry {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return entry{"command": self, "args": []string{era}, "env": entry{roleVariable: "fixture", "GORACE": noSleep}}
}

// writeConfig writes a configuration with one toolbox, suite, whose tools keep their names and are offered at once.
func writeConfig(tb testing.TB, servers map[string]entry) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "workbench-config.json")
	text := wiretest.JSON(entry{"openTimeout": "2m", "toolboxes": entry{
		"suite": entry{"description": "The conformance suite", "prefix": "none", "open": true, "mcpServers": servers}}})
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// serve starts workbench over HTTP and returns its address, http://HOST:PORT. It ends with the test, by a signal, and
// must leave nothing running.
func serve(tb testing.TB, config string) string {
	tb.Helper()
	mark := wiretest.Mark(tb)
	cmd := exec.Command(wiretest.Program("workbench"), "serve", "--config", config, "--http", "127.0.0.1:0", "--no-token")
	// What a workbench before it saw of servers would be told of first.
	cmd.Env = append(os.Environ(), mark, "XDG_CACHE_HOME="+tb.TempDir(), "XDG_STATE_HOME="+tb.TempDir())
	stderr, err := cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	log := bufio.NewReader(stderr)
	drained := make(chan struct{})
	tb.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			tb.Errorf("interrupt workbench: %v", err)
		}
		// A gateway that does not end must fail the test and not hold it up.
		stuck := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
		defer stuck.Stop()
		<-drained
		if err := cmd.Wait(); err != nil {
			tb.Errorf("the end of workbench: %v", err)
		}
	})
	url := announced(tb, log, drained)
	return strings.TrimSuffix(url, "/mcp")
}

// announced reads the log up to the line that has the address, and leaves the rest to a goroutine that ends with it.
func announced(tb testing.TB, log *bufio.Reader, drained chan struct{}) string {
	tb.Helper()
	for {
		text, err := log.ReadBytes('\n')
		if err != nil {
			close(drained)
			tb.Fatalf("workbench ended without an address: %v", err)
		}
		var line struct{ URL string }
		if json.Unmarshal(text, &line) == nil && line.URL != "" {
			go func() {
				defer close(drained)
				_, _ = io.Copy(io.Discard, log)
			}()
			return line.URL
		}
	}
}
