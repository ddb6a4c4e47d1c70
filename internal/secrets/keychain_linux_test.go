package secrets_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/secrets"
)

// session starts a bus and a Secret Service of their own, with a keychain that is open.
func session(t *testing.T) {
	t.Helper()
	for _, program := range []string{"dbus-daemon", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: there is no Secret Service to test with", program)
		}
	}
	home, err := os.MkdirTemp("", "wb") // the path of a socket is to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	// The bus of this configuration starts no services itself: one that it started would have a keychain that is
	// locked.
	config := filepath.Join(home, "bus.conf")
	if err := os.WriteFile(config, []byte(`<busconfig><type>session</type><listen>unix:path=`+filepath.Join(home, "bus")+`</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`), 0o600); err != nil {
		t.Fatal(err)
	}
	bus := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--print-address")
	out, err := bus.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	begin(t, bus)
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
	ring := exec.Command("gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets", "--control-directory="+home)
	ring.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_RUNTIME_DIR="+home)
	ring.Stdin = strings.NewReader("password\n")
	begin(t, ring)
}

func begin(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// What the keychain of the system is given is found, listed and forgotten.
func TestKeychain(t *testing.T) {
	session(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	k := secrets.Keychain{Index: filepath.Join(t.TempDir(), "state", "names")}
	set := k.Set(ctx, "A", "canary one")
	for set != nil && ctx.Err() == nil { // the service comes up beside the bus
		time.Sleep(50 * time.Millisecond)
		set = k.Set(ctx, "A", "canary one")
	}
	if set != nil {
		t.Fatal(set)
	}
	if err := k.Set(ctx, "B", "canary\ntwo"); err != nil {
		t.Fatal(err)
	}
	f := secrets.New(secrets.NewFile(paths(t)), k, nil)
	for name, want := range map[string]string{"A": "canary one", "B": "canary\ntwo"} {
		if got, err := f.Find(ctx, name, nil); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if _, err := f.Find(ctx, "C", nil); !errors.Is(err, secrets.ErrNotSet) {
		t.Errorf("got error %v, want that it is not set", err)
	}
	if err := k.Remove(ctx, "A"); err != nil {
		t.Error(err)
	}
	if err := k.Remove(ctx, "A"); !errors.Is(err, secrets.ErrNotSet) {
		t.Errorf("removed twice: got error %v, want that it is not set", err)
	}
	if names, err := k.Names(); !slices.Equal(names, []string{"B"}) || err != nil {
		t.Errorf("got names %q, %v, want B", names, err)
	}
}

// A keychain that does not answer holds nobody up for longer than it may.
func TestKeychainIsSilent(t *testing.T) {
	dir, err := os.MkdirTemp("", "wb")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	silent(t, filepath.Join(dir, "bus"))
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(dir, "bus"))
	s := secrets.New(secrets.NewFile(paths(t)), secrets.Keychain{}, nil)
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := s.Find(ctx, "A", nil)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return
		case err == nil || !strings.Contains(err.Error(), "EOF"): // the bus of another test has just ended
			t.Fatalf("got error %v, want that it took too long", err)
		}
	}
}

// silent listens and says nothing.
func silent(t *testing.T, path string) {
	t.Helper()
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
}
