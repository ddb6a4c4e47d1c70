package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

func TestFaultE6_Damaged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		image func(t *testing.T, dir string) string
	}{
		{"closed", cleanImage},
		{"killed", uncleanImage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := tt.image(t, t.TempDir())
			image := readImage(t, path)
			want := export(t, copyImage(t, image), nil)
			random := rand.New(rand.NewPCG(3, 4))
			outcomes := make(map[string]int)
			for i := range rounds(5, 1000) {
				name, damaged := damage(image, i, random)
				outcome := judge(t, copyImage(t, damaged), want)
				if strings.HasPrefix(outcome, "silent") {
					t.Errorf("%s (%d): %s", name, i, outcome)
				}
				outcomes[outcome]++
			}
			t.Logf("%v", outcomes)
		})
	}
}

// cleanImage makes a store with some dozen turns and closes it.
func cleanImage(t *testing.T, dir string) string {
	path := filepath.Join(dir, "store.db")
	s := openFile(t, path, store.Options{})
	session := begin(t, s)
	for i := range 6 {
		at, err := s.Session(t.Context(), "alice", session.ID)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			say(t, s, at.Conversation, strings.Repeat(strconv.Itoa(i), 300))
		}
		if _, err := s.Rotate(t.Context(), "alice", session.ID, "topic "+strconv.Itoa(i), "summary"); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	return path
}

// uncleanImage has a process killed that makes turns of a store.
func uncleanImage(t *testing.T, dir string) string {
	path := cleanImage(t, dir)
	killed(t, actor(t, "append", path), 20, 20*time.Second)
	if info, err := os.Stat(path + "-wal"); (err != nil || info.Size() == 0) && runtime.GOOS != "windows" {
		t.Fatalf("got %v, want a log left behind", err)
	}
	return path
}

// image are the files of a store, by what follows its path.
type image map[string][]byte

func readImage(t *testing.T, path string) image {
	t.Helper()
	files := make(image)
	for _, suffix := range []string{"", "-wal", "-journal"} {
		data, err := os.ReadFile(path + suffix)
		if err == nil {
			files[suffix] = data
		} else if !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return files
}

func copyImage(t *testing.T, files image) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	for suffix, data := range files {
		if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// damage returns a copy of a store that is damaged in one of several ways. A log is left whole: SQLite does not take
// what does not match its checksums, which is how it finds the end of what a killed process has written.
func damage(files image, i int, random *rand.Rand) (string, image) {
	data := bytes.Clone(files[""])
	const page = 4096
	ways := []struct {
		name string
		do   func()
	}{
		{"cut", func() { data = data[:random.IntN(len(data))] }},
		{"a bit", func() { data[random.IntN(len(data))] ^= 1 << random.IntN(8) }},
		{"a page of zeros", func() { clear(data[random.IntN(len(data)/page)*page:][:page]) }},
		{"garbage", func() {
			part := data[random.IntN(len(data)):]
			for i := range part[:min(len(part), 100)] {
				part[i] = byte(random.Uint32())
			}
		}},
		{"some bits", func() {
			for range 50 {
				data[random.IntN(len(data))] ^= 1 << random.IntN(8)
			}
		}},
	}
	way := ways[i%len(ways)]
	way.do()
	damaged := image{}
	for suffix, data := range files {
		damaged[suffix] = data
	}
	damaged[""] = data
	return way.name, damaged
}

// export returns all that is in a store. Warnings are added to warned.
func export(t *testing.T, path string, warned *[]error) string {
	t.Helper()
	text, err := tryExport(t, path, warned)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func tryExport(t *testing.T, path string, warned *[]error) (string, error) {
	t.Helper()
	s, err := store.OpenSQLite(t.Context(), path, func(err error) {
		if warned == nil {
			t.Errorf("got warning %v, want none", err)
			return
		}
		*warned = append(*warned, err)
	}, store.Options{})
	if err != nil {
		return "", err
	}
	defer closeStore(t, s)
	var out bytes.Buffer
	_, err = s.Export(t.Context(), &out, store.Selection{})
	return out.String(), err
}

// judge opens a damaged store and says what came of it. Only "silent" is wrong.
func judge(t *testing.T, path, want string) string {
	t.Helper()
	var warned []error
	got, err := tryExport(t, path, &warned)
	var corrupt *store.CorruptError
	switch {
	case len(warned) > 0 && errors.As(warned[0], &corrupt) && corrupt.SetAside != "":
		if _, err := os.Stat(corrupt.SetAside); err != nil {
			return "silent: " + err.Error()
		}
		if n := strings.Count(got, "\n"); err != nil || n != 2 {
			return fmt.Sprintf("silent: %d lines and %v from what should be an empty store", n, err)
		}
		return "set aside"
	case errors.As(err, &corrupt):
		// The next start finds out more.
		return "error"
	case err != nil:
		return "silent: " + err.Error()
	case got != want:
		return "silent: other content"
	}
	return "no matter" // It hit what nothing is kept in.
}

func TestFaultE7_LogTakenAway(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no log on Windows")
	}
	whole := readImage(t, uncleanImage(t, t.TempDir()))
	all := export(t, copyImage(t, whole), nil)
	old := export(t, copyImage(t, image{"": whole[""]}), nil)
	if all == old {
		t.Fatal("got nothing in the log, want some turns there")
	}
	for _, tt := range []struct {
		name  string
		files image
		want  string
	}{
		{"without -shm", whole, all},
		{"log of nothing", image{"": whole[""], "-wal": nil}, old},
		{"log cut in a frame", image{"": whole[""], "-wal": whole["-wal"][:40]}, old},
	} {
		if got := export(t, copyImage(t, tt.files), nil); got != tt.want {
			t.Errorf("%s: got other content than wanted", tt.name)
		}
	}
	// A log without its file is no empty store.
	var warned []error
	got, err := tryExport(t, copyImage(t, image{"": nil, "-wal": whole["-wal"]}), &warned)
	var corrupt *store.CorruptError
	if err != nil || len(warned) != 1 || !errors.As(warned[0], &corrupt) || strings.Count(got, "\n") != 2 {
		t.Errorf("log without file: got %v, %v and %.100s, want it set aside", err, warned, got)
	}
}

// A store that another process has open is not set aside below it, and what is found damaged then is when it is opened
// next.
func TestDamagedWhileOpen(t *testing.T) {
	t.Parallel()
	path := cleanImage(t, t.TempDir())
	files := readImage(t, path)
	s := openFile(t, path, store.Options{})
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at := 4096; at < len(files[""]); at += 4096 {
		if _, err := f.WriteAt(make([]byte, 4096), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	var corrupt *store.CorruptError
	other, err := store.OpenSQLite(t.Context(), path, deaf(t), store.Options{})
	if err == nil {
		_, err = other.Latest(t.Context(), "", 10)
		closeStore(t, other)
	}
	if !errors.As(err, &corrupt) || corrupt.SetAside != "" {
		t.Errorf("got %v, want damage that is not set aside", err)
	}
	closeStore(t, s)
	var warned []error
	if _, err := tryExport(t, path, &warned); err != nil || len(warned) != 1 || !errors.As(warned[0], &corrupt) || corrupt.SetAside == "" {
		t.Errorf("got %v and %v after all had closed it, want it set aside", err, warned)
	}
}

// A damaged turn costs itself alone: those around it are read, exported and gone on with, and the error says which it
// is.
func TestOneDamagedTurn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, store.Options{})
	at := begin(t, s)
	for _, message := range []string{"one", "two", "three"} {
		say(t, s, at.Conversation, message)
	}
	rawExec(t, raw(t, path), `UPDATE turns SET body = CAST(replace(CAST(body AS TEXT), '"two"', '"owt"') AS BLOB) WHERE seq = 2`)
	turns, err := s.Turns(t.Context(), "alice", at.Conversation, 0)
	if err != nil || len(turns) != 3 || turns[1].Status != store.StatusDamaged || turns[1].Message != "" || turns[2].Message != "three" {
		t.Fatalf("got %+v, %v, want the turns around it", turns, err)
	}
	var out bytes.Buffer
	counts, err := s.Export(t.Context(), &out, store.Selection{})
	var corrupt *store.CorruptError
	if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "turn 2 of conversation") || strings.Contains(err.Error(), "start again") || counts.Turns != 3 {
		t.Errorf("got %+v and %v, want all turns, and which is damaged", counts, err)
	}
	other := openFile(t, filepath.Join(t.TempDir(), "store.db"), store.Options{})
	if counts, err := other.Import(t.Context(), &out, ""); err != nil || counts.Turns != 3 {
		t.Errorf("got %+v and %v from the import, want all turns", counts, err)
	}
	if _, err := s.Rotate(t.Context(), "alice", at.ID, "topic", "summary"); err != nil {
		t.Errorf("got %v from a rotation, want none", err)
	}
}
