package store_test

import (
	"bytes"
	"encoding/json"
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

// A damaged turn costs itself alone, whatever is damaged of it: those around it are read, exported, imported and gone on
// with, and the error says which it is.
func TestOneDamagedTurn(t *testing.T) {
	t.Parallel()
	for name, damaged := range map[string]string{
		"what was said":           `body = CAST(replace(CAST(body AS TEXT), '"two"', '"owt"') AS BLOB)`,
		"a time beyond all years": `ended = 9223372036854775807`,
		"a time before all years": `ended = -9223372036854775808`,
		"a key of no text":        `turn_key = CAST(x'00ff00' AS TEXT)`,
		"no key":                  `turn_key = ''`,
		"an endless key":          `turn_key = replace(hex(zeroblob(500)), '0', 'k')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			s := openFile(t, path, store.Options{})
			at := begin(t, s)
			for _, message := range []string{"one", "two", "three"} {
				say(t, s, at.Conversation, message)
			}
			rawExec(t, raw(t, path), `UPDATE turns SET `+damaged+` WHERE seq = 2`)
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
		})
	}
}

// A damaged conversation costs itself alone, whatever is damaged of it: the others are listed, exported and gone on with;
// whoever was in it gets another; and it can be deleted.
func TestOneDamagedConversation(t *testing.T) {
	t.Parallel()
	for name, damaged := range map[string]string{
		"its topic":               `body = CAST('{"topic":"another"}' AS BLOB)`,
		"what is no JSON":         `body = x'00ff'`,
		"a time beyond all years": `updated = 9223372036854775807`,
		"a time before all years": `created = -9223372036854775808`,
		"its turns":               `turns = -3`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			s := openFile(t, path, store.Options{KeepFor: 24 * time.Hour})
			at := begin(t, s)
			say(t, s, at.Conversation, "one")
			whole, err := s.Rotate(t.Context(), "alice", at.ID, "topic", "summary")
			if err != nil {
				t.Fatal(err)
			}
			bad := at.Conversation
			say(t, s, whole, "two")
			if err := s.Activate(t.Context(), "alice", at.ID, bad); err != nil {
				t.Fatal(err)
			}
			rawExec(t, raw(t, path), `UPDATE conversations SET `+damaged+` WHERE id = '`+bad+`'`)
			list, err := s.Conversations(t.Context(), "alice", at.Workflow, 10)
			all, allErr := s.Latest(t.Context(), "", 10)
			if err != nil || allErr != nil || len(list) != 2 || len(all) != 2 {
				t.Fatalf("got %+v, %v and %+v, %v, want both", list, err, all, allErr)
			}
			for i, c := range list {
				if c.Damaged != (c.ID == bad) || all[i].Damaged != c.Damaged {
					t.Errorf("got %+v and %+v, want the damaged one marked", c, all[i])
				}
				if _, err := json.Marshal(c); err != nil {
					t.Errorf("got %v, want what JSON can hold", err)
				}
			}
			var out bytes.Buffer
			counts, err := s.Export(t.Context(), &out, store.Selection{})
			wantPart(t, "export", err, bad)
			if counts.Conversations != 1 {
				t.Errorf("got %+v, want the other exported", counts)
			}
			other := openFile(t, filepath.Join(t.TempDir(), "store.db"), store.Options{})
			if counts, err := other.Import(t.Context(), &out, ""); err != nil || counts.Conversations != 1 {
				t.Errorf("got %+v and %v from the import, want the other", counts, err)
			}
			_, err = s.Start(t.Context(), "alice", bad, store.Request{Key: "k"})
			wantPart(t, "start", err, bad)
			wantPart(t, "activate", s.Activate(t.Context(), "alice", at.ID, bad), bad)
			_, err = s.Begin(t.Context(), "alice", at.Client, at.Workflow, bad)
			wantPart(t, "begin", err, bad)

			if next, err := s.Begin(t.Context(), "alice", at.Client, at.Workflow, ""); err != nil || next.Conversation == bad {
				t.Errorf("got %+v, %v from a new session, want another conversation", next, err)
			}
			next, err := s.Rotate(t.Context(), "alice", at.ID, "topic", "summary")
			if err != nil || next == bad {
				t.Errorf("got %q, %v from a rotation, want another conversation", next, err)
			}
			say(t, s, next, "three")
			if err := s.Delete(t.Context(), "alice", bad); err != nil {
				t.Errorf("got %v, want it deleted", err)
			}
			if _, err := s.Export(t.Context(), &out, store.Selection{}); err != nil {
				t.Errorf("got %v, want no damage any more", err)
			}
		})
	}
}

// The end of a turn of which nobody heard is not waited for in a damaged conversation.
func TestLostInADamagedConversation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, store.Options{})
	at := begin(t, s)
	db := raw(t, path)
	rawExec(t, db, `INSERT INTO leases (principal, conversation, turn_key, digest, kind, message, holder, started, expires)
		VALUES ('alice', '`+at.Conversation+`', 'k', '', '', x'00', 'h', 1, 2)`)
	rawExec(t, db, `UPDATE conversations SET turns = 7`)
	if err := s.Delete(t.Context(), "alice", at.Conversation); err != nil {
		t.Errorf("got %v, want it deleted", err)
	}
}

// wantPart fails unless err says that the entry id is damaged, and nothing else.
func wantPart(t *testing.T, what string, err error, id string) {
	t.Helper()
	var corrupt *store.CorruptError
	if !errors.As(err, &corrupt) || !corrupt.Part || !strings.Contains(err.Error(), id) || strings.Contains(err.Error(), "start again") {
		t.Errorf("%s: got %v, want %s damaged alone", what, err, id)
	}
}

// A damaged correction costs itself alone.
func TestOneDamagedCorrection(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, store.Options{})
	for _, u := range []string{"one", "two"} {
		if err := s.SaveCorrection(t.Context(), "alice", "w", "v", store.Correction{Utterance: u, Command: "c"}); err != nil {
			t.Fatal(err)
		}
	}
	rawExec(t, raw(t, path), `UPDATE corrections SET command = 'd' WHERE utterance = 'one'`)
	found, err := s.Corrections(t.Context(), "alice", "w", "v")
	wantPart(t, "read", err, "correction")
	if len(found) != 1 || found[0].Utterance != "two" {
		t.Errorf("got %+v, want the other", found)
	}
	var out bytes.Buffer
	counts, err := s.Export(t.Context(), &out, store.Selection{})
	wantPart(t, "export", err, "correction")
	if counts.Corrections != 1 {
		t.Errorf("got %+v, want the other exported", counts)
	}
}

// What cannot be read ends a list and an export, and what was read before that is in them, and no half of a row.
func TestReadBeforeDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, store.Options{})
	for i, name := range []string{"one", "two"} {
		if err := s.SaveCorrection(t.Context(), "alice", "w", "v", store.Correction{Utterance: name, Command: "c", Made: time.UnixMilli(int64(i))}); err != nil {
			t.Fatal(err)
		}
		if err := s.StartRun(t.Context(), name, store.Run{ID: "r", Workflow: "w", Head: js(`{}`)}, js(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	db := raw(t, path)
	rawExec(t, db, `UPDATE corrections SET made = 'x' WHERE utterance = 'two'`)
	var out bytes.Buffer
	if _, err := s.Export(t.Context(), &out, store.Selection{}); !errors.As(err, new(*store.CorruptError)) || !strings.Contains(out.String(), `"utterance":"one"`) {
		t.Errorf("got %s and %v, want the correction that can be read and that the store is damaged", out.String(), err)
	}
	rawExec(t, db, `UPDATE runs SET updated = 'x' WHERE principal = 'two'`)
	if found, err := s.RunsByID(t.Context(), "", "r"); !errors.As(err, new(*store.CorruptError)) || len(found) != 1 {
		t.Errorf("got %+v and %v, want the run that can be read and that the store is damaged", found, err)
	}
}
