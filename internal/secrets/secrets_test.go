package secrets_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/internal/secrets"
)

func paths(t *testing.T) secrets.Paths {
	dir := t.TempDir()
	return secrets.Paths{
		Secrets: filepath.Join(dir, "state", "secrets.age"), Key: filepath.Join(dir, "state", "secrets.key"),
		Unlocked: filepath.Join(dir, "run", "secrets.key"), Turns: filepath.Join(dir, "turns"),
	}
}

// noBus has the keychain not be reached.
func noBus(t *testing.T) { t.Setenv("DBUS_SESSION_BUS_ADDRESS", "autolaunch:") }

func find(t *testing.T, f *secrets.File, name string) (string, error) {
	t.Helper()
	return secrets.New(f, secrets.Keychain{}, nil).Find(t.Context(), name, nil)
}

// What was put into the file is found again, by another process too, and is not in clear in any file.
func TestFile(t *testing.T) {
	noBus(t)
	p := paths(t)
	f := secrets.NewFile(p)
	if _, err := find(t, f, "A"); !errors.Is(err, secrets.ErrNotSet) || !strings.Contains(err.Error(), "workbench secret set A") {
		t.Errorf("no file: got error %v, want that it is not set and how it is", err)
	}
	if names, err := f.Names(); len(names) > 0 || err != nil {
		t.Errorf("no file: got %q, %v, want nothing", names, err)
	}
	for name, value := range map[string]string{"A": "canary-one", "B": "canary\nof two lines", "C.d-e_f": "canary 🙂"} {
		if err := f.Set(t.Context(), name, value); err != nil {
			t.Fatal(err)
		}
		if got, err := find(t, secrets.NewFile(p), name); got != value || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, value)
		}
	}
	for _, path := range []string{p.Secrets, p.Key} {
		data, err := os.ReadFile(path)
		info, _ := os.Stat(path)
		if err != nil || bytes.Contains(data, []byte("canary")) || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v, mode %v, want a file of the user's own without the secrets", path, err, info.Mode())
		}
	}
	if err := f.Remove(t.Context(), "A"); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(t.Context(), "A"); !errors.Is(err, secrets.ErrNotSet) {
		t.Errorf("removed twice: got error %v, want that it is not set", err)
	}
	if names, err := f.Names(); !slices.Equal(names, []string{"B", "C.d-e_f"}) || err != nil {
		t.Errorf("got %q, %v", names, err)
	}
	if runtime.GOOS == "windows" {
		return // the rights of files are not told by their mode there
	}
	if err := os.Chmod(p.Key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := find(t, f, "B"); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read: got error %v, want that it is refused", err)
	}
}

// A file without its key, with another's, or torn, is an error that is no loss: it is not written over.
func TestFileOfAnotherKey(t *testing.T) {
	noBus(t)
	p := paths(t)
	f := secrets.NewFile(p)
	if err := f.Set(t.Context(), "A", "one"); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(p.Secrets)
	if err != nil {
		t.Fatal(err)
	}
	other := paths(t)
	if err := secrets.NewFile(other).Set(t.Context(), "B", "two"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name  string
		spoil func() error
	}{
		{"no key", func() error { return os.Rename(p.Key, p.Key+".away") }},
		{"another key", func() error { return os.Rename(other.Key, p.Key) }},
		{"no key text", func() error { return os.WriteFile(p.Key, []byte("x"), 0o600) }},
		{"torn", func() error {
			return errors.Join(os.Rename(p.Key+".away", p.Key), os.WriteFile(p.Secrets, whole[:len(whole)-3], 0o600))
		}},
	} {
		if err := step.spoil(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(p.Secrets)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := find(t, f, "A"); err == nil || errors.Is(err, secrets.ErrNotSet) {
			t.Errorf("%s: got %q, %v, want what is wrong", step.name, got, err)
		}
		if err := f.Set(t.Context(), "C", "three"); err == nil {
			t.Errorf("%s: a secret was set", step.name)
		}
		if after, err := os.ReadFile(p.Secrets); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: the file was changed: %v", step.name, err)
		}
	}
}

// With a passphrase the key is unlocked once, and locked again when the folder of the login is gone.
func TestPassphrase(t *testing.T) {
	noBus(t)
	p := paths(t)
	f := secrets.NewFile(p)
	f.EasyPassphrases()
	if err := f.Locked(); !errors.Is(err, secrets.ErrNoKey) {
		t.Errorf("no key: got %v", err)
	}
	if err := f.Set(t.Context(), "A", "one"); err != nil {
		t.Fatal(err)
	}
	if err := f.Locked(); !errors.Is(err, secrets.ErrNotProtected) {
		t.Errorf("a key in clear: got %v", err)
	}
	if err := f.Protect(t.Context(), "correct horse"); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(p.Key); err != nil || bytes.Contains(data, []byte("AGE-SECRET-KEY")) {
		t.Errorf("the key is in clear: %v", err)
	}
	if got, err := find(t, f, "A"); got != "one" || err != nil {
		t.Errorf("just protected: got %q, %v", got, err)
	}
	if err := os.RemoveAll(filepath.Dir(p.Unlocked)); err != nil {
		t.Fatal(err)
	}
	if _, err := find(t, f, "A"); !errors.Is(err, secrets.ErrLocked) {
		t.Errorf("after a logout: got error %v, want that it is locked", err)
	}
	if err := f.Protect(t.Context(), ""); !errors.Is(err, secrets.ErrLocked) {
		t.Errorf("taking the passphrase away while locked: got error %v, want that it is locked", err)
	}
	if err := f.Unlock("wrong"); err == nil || errors.Is(err, secrets.ErrLocked) {
		t.Errorf("a wrong passphrase: got error %v, want one", err)
	}
	if err := f.Unlock("correct horse"); err != nil {
		t.Fatal(err)
	}
	if got, err := find(t, f, "A"); got != "one" || err != nil {
		t.Errorf("unlocked: got %q, %v", got, err)
	}
	if err := f.Protect(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(p.Unlocked)); err != nil {
		t.Fatal(err)
	}
	if got, err := find(t, f, "A"); got != "one" || err != nil {
		t.Errorf("in clear again: got %q, %v", got, err)
	}
	p.Unlocked = ""
	if err := secrets.NewFile(p).Protect(t.Context(), "x"); err == nil {
		t.Error("a key was protected that could not be unlocked")
	}
}

// Of many that set secrets at once none is lost.
func TestSetAtOnce(t *testing.T) {
	noBus(t)
	p := paths(t)
	var all sync.WaitGroup
	var want []string
	for i := range 8 {
		name := fmt.Sprint("S", i)
		want = append(want, name)
		all.Go(func() {
			if err := secrets.NewFile(p).Set(t.Context(), name, name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if names, err := secrets.NewFile(p).Names(); !slices.Equal(names, want) || err != nil {
		t.Errorf("got %q, %v, want %q", names, err, want)
	}
}

// The names of secrets that several processes give the keychain at a time are all listed.
func TestNotedAtOnce(t *testing.T) {
	k := secrets.Keychain{Index: filepath.Join(t.TempDir(), "state", "names")}
	var want []string
	var all sync.WaitGroup
	for i := range 20 {
		name := fmt.Sprintf("S%02d", i)
		want = append(want, name)
		all.Go(func() {
			if err := k.Note(t.Context(), name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := k.Names(); !slices.Equal(got, want) || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// A program that prints a secret is run once for all who want it at one time, and what it prints is not in its errors.
func TestCommand(t *testing.T) {
	release, runs := make(chan struct{}), make(chan []string, 8)
	answer := func(context.Context) ([]byte, error) { return []byte("canary\r\n"), nil }
	f := secrets.New(secrets.NewFile(paths(t)), secrets.Keychain{}, func(ctx context.Context, argv []string) ([]byte, error) {
		runs <- argv
		<-release
		return answer(ctx)
	})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got, err := f.Find(t.Context(), "A", []string{"op", "read"}); got != "canary" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if argv := <-runs; !slices.Equal(argv, []string{"op", "read"}) {
		t.Errorf("got %q run", argv)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Find(gone, "A", []string{"op", "read"}); !errors.Is(err, context.Canceled) {
		t.Errorf("somebody who gave up: got error %v", err)
	}
	close(release)
	all.Wait()
	for out, want := range map[string]string{"": "empty", "\n": "empty", "canary\x00": "zero bytes", strings.Repeat("canary", 20000): "bytes"} {
		answer = func(context.Context) ([]byte, error) { return []byte(out), nil }
		if _, err := f.Find(t.Context(), "B", []string{"op"}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%.9q: got error %v, want %q without the secret", out, err, want)
		}
	}
	answer = func(context.Context) ([]byte, error) { return nil, errors.New("no session") }
	if _, err := f.Find(t.Context(), "C", []string{"op"}); err == nil || !strings.Contains(err.Error(), `secret C: the command "op"`) || !strings.Contains(err.Error(), "no session") {
		t.Errorf("got error %v, want which command failed and why", err)
	}
}
