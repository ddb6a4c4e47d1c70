//go:build unix

package toolbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox"
)

// fakeNpx is a program named npx that installs a package into the cache below HOME, which takes until there is the file
// GO_ON or somebody ends it, and then is a server.
const fakeNpx = `#!/bin/sh
d="$HOME/.npm/_npx/97c0a91c8f71bc2e"
mkdir -p "$d/node_modules/x"
echo "fetching 312 packages" >&2
while [ ! -e "$GO_ON" ]; do sleep 0.05; done
touch "$d/node_modules/.package-lock.json"
exec "$SELF"
`

// npxServer is a server that a fake npx installs; go on has it end the installation.
func npxServer(t *testing.T, start, install time.Duration) (cfg config.Server, cache string, goOn func()) {
	t.Helper()
	home := t.TempDir()
	npx := filepath.Join(home, "npx")
	if err := os.WriteFile(npx, []byte(fakeNpx), 0o755); err != nil {
		t.Fatal(err)
	}
	cfg = childServer("s", "")
	going := filepath.Join(home, "go-on")
	cfg.Env["SELF"], cfg.Env["HOME"], cfg.Env["PATH"], cfg.Env["GO_ON"] = cfg.Command, home, os.Getenv("PATH"), going
	cfg.Command, cfg.Args = npx, []string{"-y", "@x/y"}
	cfg.Timeouts.Start, cfg.Timeouts.Install = start, install
	return cfg, filepath.Join(home, ".npm", "_npx", "97c0a91c8f71bc2e"), func() {
		if err := os.WriteFile(going, nil, 0o644); err != nil {
			t.Error(err)
		}
	}
}

// states notes the states of a server, and lets a test wait for one.
func states(t *testing.T) (func(toolbox.Event), func(toolbox.State) toolbox.Status) {
	events := make(chan toolbox.Event, 1000)
	return func(e toolbox.Event) { events <- e }, func(want toolbox.State) toolbox.Status {
		t.Helper()
		late := time.After(2 * time.Minute)
		for {
			select {
			case e := <-events:
				if e.Status.State == want {
					return e.Status
				}
			case <-late:
				t.Fatalf("the server did not come into the state %s", want)
			}
		}
	}
}

// An installation that takes longer than a start may is waited for.
func TestInstallIsWaitedFor(t *testing.T) {
	t.Parallel()
	cfg, cache, goOn := npxServer(t, time.Second, 2*time.Minute)
	event, until := states(t)
	b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{cfg}}, toolbox.Options{Peer: newPeer(), Event: event})
	defer b.Close()
	if err := b.Open(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	st := until(toolbox.Installing)
	began := time.Now()
	if text := st.Explain(); !strings.Contains(text, "its package is being fetched") {
		t.Errorf("got %q, want what is done meanwhile", text)
	}
	srv := server(t, b, "s")
	for time.Since(began) < cfg.Timeouts.Start {
		if now := srv.Status(); !now.State.IsStarting() {
			t.Fatalf("after %s it is %s (%v), want it left to install", time.Since(began), now.State, now.Cause)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if words := srv.LastWords().String(); !strings.Contains(words, "fetching 312 packages") {
		t.Errorf("got the last words %q, want what it does", words)
	}
	goOn()
	until(toolbox.Ready)
	if _, err := os.Stat(cache); err != nil {
		t.Errorf("the cache of a package that is installed: %v", err)
	}
}

// A sandbox gives the program another home, with another cache: an installation is seen there too.
func TestInstallInASandboxIsWaitedFor(t *testing.T) {
	t.Parallel()
	cfg, cache, goOn := npxServer(t, time.Second, 2*time.Minute)
	home, self := cfg.Env["HOME"], cfg.Env["SELF"]
	delete(cfg.Env, "HOME")
	cfg.Cwd = t.TempDir()
	cfg.Sandbox = config.Sandbox{Preset: config.SandboxWorkspace, Read: []string{home, filepath.Dir(self)}, BestEffort: true}
	event, until := states(t)
	b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{cfg}}, toolbox.Options{
		Peer: newPeer(), Event: event, Environ: []string{"HOME=" + home}, Sandboxes: t.TempDir(),
	})
	defer b.Close()
	if err := b.Open(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	until(toolbox.Installing)
	goOn()
	until(toolbox.Ready)
	if _, err := os.Stat(cache); !os.IsNotExist(err) {
		t.Errorf("the cache of the user: got %v, want none", err)
	}
}

// An installation that is ended in the middle leaves nothing torn, and what ends it says so.
func TestInstallIsEnded(t *testing.T) {
	t.Parallel()
	cfg, cache, _ := npxServer(t, 2*time.Second, 3*time.Second)
	event, until := states(t)
	b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{cfg}}, toolbox.Options{Peer: newPeer(), Event: event})
	defer b.Close()
	if err := b.Open(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	until(toolbox.Installing)
	for want := `did not finish installing and starting within 3s (timeouts.install); its last words: "fetching 312 packages"`; ; {
		if st := until(toolbox.Backoff); strings.Contains(st.Cause.Error(), want) {
			break // else the script did not even begin in time
		}
	}
	until(toolbox.Installing)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(cache); !os.IsNotExist(err) {
		t.Errorf("the torn cache: got %v, want it gone", err)
	}
}
