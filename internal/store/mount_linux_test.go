package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/pgtest"
	"github.com/mcp-workbench/workbench/internal/store"
)

// playMounted is called in a mount namespace of its own and plays on a file system of its own. Arguments: an empty
// folder and what to play.
func playMounted(ctx context.Context, args []string) error {
	dir := args[0]
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		return fmt.Errorf("%w: %w", errNoMount, err)
	}
	path := filepath.Join(dir, "store.db")
	s, err := store.OpenSQLite(ctx, path, warned, store.Options{}.Turned(store.Knobs{Lease: 300 * time.Millisecond}))
	if err != nil {
		return err
	}
	session, err := s.Begin(ctx, "alice", "editor", "shop", "")
	if err != nil {
		return err
	}
	if _, err := sayAs(ctx, s, "alice", session.Conversation, "before", "before"); err != nil {
		return err
	}
	plays := map[string]func(context.Context, *store.Store, string, string) error{"full": playFull, "read-only": playReadOnly,
		"full when opened": playFullWhenOpened}
	return plays[args[1]](ctx, s, path, session.Conversation)
}

var errNoMount = errors.New("no file system could be mounted")

// playFull fills the disk, and makes room again.
func playFull(ctx context.Context, s *store.Store, path, c string) error {
	defer s.Close()
	ballast := filepath.Join(filepath.Dir(path), "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		return err
	}
	kept := 1
	var full *store.WriteError
	for {
		_, err := sayAs(ctx, s, "alice", c, store.NewID(), strings.Repeat("x", 50_000))
		if errors.As(err, &full) && strings.Contains(err.Error(), "free space on the disk") {
			break
		} else if err != nil || kept > 1000 {
			return fmt.Errorf("got %w after %d turns, want a full disk", err, kept)
		}
		kept++
	}
	if turns, err := s.Turns(ctx, "alice", c, 0); err != nil || len(turns) != kept {
		return fmt.Errorf("got %d turns and %w with a full disk, want %d", len(turns), err, kept)
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, err := sayAs(ctx, s, "alice", c, store.NewID(), "after")
		// The turn that could not be kept could not be given up either, and its lease has to end.
		var busy *store.BusyError
		if !errors.As(err, &busy) || time.Now().After(end) {
			return err
		}
	}
}

// playFullWhenOpened opens the store while the disk is full, and when there is room again.
func playFullWhenOpened(ctx context.Context, s *store.Store, path, c string) error {
	if err := s.Close(); err != nil {
		return err
	}
	ballast := filepath.Join(filepath.Dir(path), "ballast")
	if err := os.WriteFile(ballast, make([]byte, 5<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("got %w, want a full disk", err)
	}
	s, err := store.OpenSQLite(ctx, path, warned, store.Options{})
	if err == nil {
		_, err = sayAs(ctx, s, "alice", c, "k", "m")
		_ = s.Close()
	}
	var full *store.WriteError
	if !errors.As(err, &full) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "free space on the disk") {
		return fmt.Errorf("got %w, want the path and what to do", err)
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	if s, err = store.OpenSQLite(ctx, path, warned, store.Options{}); err != nil {
		return err
	}
	defer s.Close()
	_, err = sayAs(ctx, s, "alice", c, "k", "m")
	return err
}

// playReadOnly makes the file system one that cannot be written, and opens the store.
func playReadOnly(ctx context.Context, s *store.Store, path, c string) error {
	if err := s.Close(); err != nil {
		return err
	}
	if err := syscall.Mount("", filepath.Dir(path), "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	return readOnly(ctx, path, c)
}

// readOnly opens a store that cannot be written.
func readOnly(ctx context.Context, path, c string) error {
	var warnings []error
	s, err := store.OpenSQLite(ctx, path, func(err error) { warnings = append(warnings, err) }, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	var unwritable *store.ReadOnlyError
	if len(warnings) != 1 || !errors.As(warnings[0], &unwritable) {
		return fmt.Errorf("got warnings %v, want one that it can only be read", warnings)
	}
	if turns, err := s.Turns(ctx, "alice", c, 0); err != nil || messages(turns) != "before" {
		return fmt.Errorf("got %q and %w, want the history", messages(turns), err)
	}
	if _, err := sayAs(ctx, s, "alice", c, "k", "m"); !errors.As(err, &unwritable) {
		return fmt.Errorf("got %w from writing, want it refused", err)
	}
	return nil
}

// playDenied opens a store that it has no right to write. Arguments: the file and the conversation.
func playDenied(ctx context.Context, args []string) error { return readOnly(ctx, args[0], args[1]) }

// mounted runs a role with a file system of its own.
func mounted(t *testing.T, play string) {
	t.Helper()
	cmd := actor(t, "mounted", t.TempDir(), play)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var said strings.Builder
	cmd.Stderr = &said
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || strings.Contains(said.String(), errNoMount.Error()) {
		t.Skipf("this system lets no test have a file system of its own: %v %s", err, &said)
	}
	if err != nil {
		t.Errorf("got %v: %s", err, &said)
	}
}

func TestFaultE1_DiskFullForReal(t *testing.T) { mounted(t, "full") }

func TestFaultE1_DiskFullWhenOpened(t *testing.T) { mounted(t, "full when opened") }

func TestFaultE2_ReadOnlyFileSystem(t *testing.T) { mounted(t, "read-only") }

func TestFaultE2_NoRightToWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	path := filepath.Join(dir, "store.db")
	s := openFile(t, path, store.Options{})
	c := begin(t, s).Conversation
	say(t, s, c, "before")
	closeStore(t, s)
	for file, mode := range map[string]os.FileMode{path: 0o400, path + ".lock": 0o400, dir: 0o500} {
		if err := pgtest.GiveAway(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) }) // for it to be removed
	// Somebody else has to be let through to it, and to this program.
	for up := filepath.Dir(dir); up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(t.TempDir(), "program")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := actor(t, "denied", path, c)
	cmd.Path = program
	pgtest.Unprivileged(cmd)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Errorf("got %v: %s", err, &said)
	}
}
