package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

// play is this program as another process of a test. A role is a name and its arguments, separated by newlines.
func play(role string) int {
	args := strings.Split(role, "\n")
	roles := map[string]func(context.Context, []string) error{"append": playAppend, "hold": playHold, "crowd": playCrowd, "open": playOpen,
		"mounted": playMounted, "denied": playDenied}
	if err := roles[args[0]](context.Background(), args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", args[0], err)
		return 1
	}
	return 0
}

// actor returns this program in a role.
func actor(t testing.TB, role ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+strings.Join(role, "\n"), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

func warned(err error) { fmt.Fprintln(os.Stderr, "warning:", err) }

// playAppend makes turns until it is killed, on four conversations at once, and prints the message of each that was
// acknowledged. Arguments: the place.
func playAppend(ctx context.Context, args []string) error {
	s, err := openPlace(ctx, args[0], warned, store.Options{}.Turned(store.Knobs{Lease: time.Second}))
	if err != nil {
		return err
	}
	failed := make(chan error)
	for range 4 {
		go func() {
			session, err := s.Begin(ctx, "alice", store.NewID(), "shop", "")
			for err == nil {
				message := session.Conversation + "/" + store.NewID()
				if _, err = sayAs(ctx, s, "alice", session.Conversation, store.NewID(), message); err == nil {
					fmt.Println(message) // one write
				}
			}
			failed <- err
		}()
	}
	return <-failed
}

// playHold starts a turn and waits to be killed. Arguments: the place and the conversation.
func playHold(ctx context.Context, args []string) error {
	s, err := openPlace(ctx, args[0], warned, store.Options{}.Turned(store.Knobs{Lease: time.Second}))
	if err != nil {
		return err
	}
	if _, err := s.Start(ctx, "alice", args[1], store.Request{Key: "held", Digest: "d", Kind: "agent", Message: "from afar"}); err != nil {
		return err
	}
	fmt.Println("held")
	time.Sleep(time.Hour)
	return nil
}

// playCrowd makes turns with pauses between them, and prints how long the slowest hundredth took at least, in
// microseconds. Arguments: the place, a number of turns.
func playCrowd(ctx context.Context, args []string) error {
	s, err := openPlace(ctx, args[0], warned, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	session, err := s.Begin(ctx, "alice", store.NewID(), "shop", "")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	var took []time.Duration
	for i := range n {
		start := time.Now()
		if _, err := sayAs(ctx, s, "alice", session.Conversation, store.NewID(), strconv.Itoa(i)); err != nil {
			return err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	fmt.Println(took[len(took)*99/100].Microseconds())
	return nil
}

// playOpen opens a place and closes it again.
func playOpen(ctx context.Context, args []string) error {
	s, err := openPlace(ctx, args[0], warned, store.Options{})
	if err != nil {
		return err
	}
	return s.Close()
}

// killed runs a role until it has printed a number of lines or so long has passed, kills it, and returns the whole
// lines that it printed.
func killed(t testing.TB, cmd *exec.Cmd, lines int, after time.Duration) []string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	kill := func() { once.Do(func() { _ = cmd.Process.Kill() }) } // It may have ended by itself, which Wait tells.
	timer := time.AfterFunc(after, kill)
	defer timer.Stop()
	var got []string
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		got = append(got, strings.TrimSuffix(line, "\n"))
		if len(got) == lines {
			kill()
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("got %v, want it killed", err)
	}
	return got
}

// rounds is how often something is tried that may go wrong at any moment.
func rounds(few, many int) int {
	switch {
	case os.Getenv("WORKBENCH_CHAOS") != "":
		return many
	case testing.Short():
		return few / 5
	}
	return few
}

// openPlace opens a place, which is a file, or "postgres:" and a connection string.
func openPlace(ctx context.Context, place string, warn func(error), opts store.Options) (*store.Store, error) {
	if dsn, ok := strings.CutPrefix(place, "postgres:"); ok {
		return store.OpenPostgres(ctx, dsn, warn, opts)
	}
	return store.OpenSQLite(ctx, place, warn, opts)
}
