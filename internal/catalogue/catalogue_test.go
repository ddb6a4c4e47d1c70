package catalogue_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/catalogue"
)

// asWriter makes the test binary a process that writes to the folder in it.
const asWriter = "CATALOGUE_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asWriter); dir != "" {
		write(catalogue.New(dir, zerolog.Nop()), os.Getpid())
		return
	}
	os.Exit(m.Run())
}

func key() catalogue.Key {
	return catalogue.Key{Server: catalogue.Digest([]byte("server")), Client: catalogue.Digest([]byte("{}"))}
}

func raw(texts ...string) []json.RawMessage {
	items := []json.RawMessage{}
	for _, s := range texts {
		items = append(items, json.RawMessage(s))
	}
	return items
}

// entry has what encoders like to change: spaces, big numbers, escapes.
func entry() *catalogue.Entry {
	return &catalogue.Entry{
		Seen: time.Unix(1_700_000_000, 0), Version: "2025-11-25", Mute: true,
		Capabilities: json.RawMessage(`{ "tools" : {"x":1.0} }`),
		Instructions: json.RawMessage(`"Say \u0022please\"\n<&>"`), Info: json.RawMessage(`{ "name":"x","n":1.0}`),
		Lists: map[string][]json.RawMessage{
			"tools":   raw(`{"name": "a", "n":18446744073709551615 }`, `{"name":"\u0062","x":"<&>"}`),
			"prompts": raw(),
		},
	}
}

func TestEntriesComeBackAsTheyWere(t *testing.T) {
	for name, want := range map[string]*catalogue.Entry{
		"whole":   entry(),
		"minimal": {Seen: time.Unix(0, 0), Lists: map[string][]json.RawMessage{}},
	} {
		t.Run(name, func(t *testing.T) {
			c := catalogue.New(filepath.Join(t.TempDir(), "deep", "folder"), zerolog.Nop())
			c.Put(key(), want)
			if got := c.Get(key()); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			other := key()
			other.Client = catalogue.Digest([]byte(`{"roots":{}}`))
			if got := c.Get(other); got != nil {
				t.Errorf("another client: got %+v, want nothing", got)
			}
		})
	}
}

func TestNewestOfAnyClient(t *testing.T) {
	c := catalogue.New(t.TempDir(), zerolog.Nop())
	if got := c.List().Newest(key().Server); got != nil {
		t.Errorf("empty folder: got %+v, want nothing", got)
	}
	for i, client := range []string{"one", "two", "three"} {
		e := entry()
		e.Seen = time.Unix([]int64{10, 30, 20}[i], 0)
		e.Instructions = json.RawMessage(strconv.Quote(client))
		c.Put(catalogue.Key{Server: key().Server, Client: catalogue.Digest([]byte(client))}, e)
	}
	c.Put(catalogue.Key{Server: catalogue.Digest([]byte("another")), Client: key().Client}, entry())
	if got := c.List().Newest(key().Server); got == nil || string(got.Instructions) != `"two"` {
		t.Errorf("got %+v, want that of client two", got)
	}
}

// A listing has many servers from one look at the folder, and takes nothing for an entry that is none.
func TestListingLooksOnce(t *testing.T) {
	dir := t.TempDir()
	c := catalogue.New(dir, zerolog.Nop())
	server := func(i int) string { return catalogue.Digest([]byte(strconv.Itoa(i))) }
	put := func(i int) { c.Put(catalogue.Key{Server: server(i), Client: key().Client}, entry()) }
	for i := range 3 {
		put(i)
	}
	for _, name := range []string{server(5) + "-" + key().Client, server(5) + ".mcp", "-.mcp", ".mcp"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("none"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, server(6)+"-"+key().Client+".mcp"), 0o700); err != nil {
		t.Fatal(err)
	}
	list := c.List()
	for i, want := range []bool{true, true, true, false, false, false, false} {
		if got := list.Newest(server(i)); (got != nil) != want {
			t.Errorf("server %d: got %+v, want an entry: %t", i, got, want)
		}
	}
	if got := list.Newest(""); got != nil {
		t.Errorf("no server: got %+v, want nothing", got)
	}
	put(3)
	if got := list.Newest(server(3)); got != nil {
		t.Errorf("put after the first question: got %+v, want nothing: the folder was read again", got)
	}
	if got := c.List().Newest(server(3)); got == nil {
		t.Error("a listing made later: got nothing, want the entry")
	}
}

func TestOnlyTheUserCanRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps rights elsewhere")
	}
	dir := filepath.Join(t.TempDir(), "catalogue")
	catalogue.New(dir, zerolog.Nop()).Put(key(), entry())
	for path, want := range map[string]os.FileMode{dir: 0o700, only(t, dir): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: got mode %04o, want %04o", path, got, want)
		}
	}
}

// only returns the one file of a folder.
func only(t *testing.T, dir string) string {
	t.Helper()
	names := files(t, dir)
	if len(names) != 1 {
		t.Fatalf("got files %q, want one", names)
	}
	return filepath.Join(dir, names[0])
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// What is not exactly a file of this program for this server is as good as none, is said so, and is replaced by the
// next Put.
func TestBadFilesAreIgnored(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	c := catalogue.New(dir, zerolog.New(&log))
	c.Put(key(), entry())
	path := only(t, dir)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]byte{
		"empty":           {},
		"foreign":         []byte("{}\n"),
		"newer":           bytes.Replace(good, []byte("catalogue 1 "), []byte("catalogue 2 "), 1),
		"longer":          append(slices.Clone(good), '\n'),
		"a changed digit": bytes.Replace(good, []byte("1700000000"), []byte("1700000001"), 1),
		"zeros":           make([]byte, len(good)),
		"too large":       append(slices.Clone(good), make([]byte, 16<<20)...),
	}
	for _, n := range []int{1, 21, 22, 86, 87, 88, len(good) / 2, len(good) - 1} {
		cases["torn at "+strconv.Itoa(n)] = good[:n]
		half := slices.Clone(good)
		clear(half[n:])
		cases["zeros from "+strconv.Itoa(n)] = half
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			log.Reset()
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := c.Get(key()); got != nil {
				t.Errorf("got %+v, want nothing", got)
			}
			if text := log.String(); !strings.Contains(text, `"level":"debug"`) || !strings.Contains(text, filepath.Base(path)) {
				t.Errorf("got log %q, want a debug line with the file", text)
			}
			c.Put(key(), entry())
			if c.Get(key()) == nil {
				t.Error("got nothing after a new Put, want the entry")
			}
		})
	}
	t.Run("that of another server", func(t *testing.T) {
		other := catalogue.Key{Server: catalogue.Digest([]byte("other")), Client: key().Client}
		if err := os.Rename(path, filepath.Join(dir, other.String()+filepath.Ext(path))); err != nil {
			t.Fatal(err)
		}
		if got := c.Get(other); got != nil {
			t.Errorf("got %+v, want nothing", got)
		}
	})
}

// A folder that cannot be used costs nothing but a line of the log.
func TestUnusableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c := catalogue.New(filepath.Join(file, "catalogue"), zerolog.New(&log))
	c.Put(key(), entry())
	if got := c.Get(key()); got != nil || !strings.Contains(log.String(), "cannot be stored") {
		t.Errorf("got %+v and log %s, want nothing and a line", got, log.String())
	}
}

func TestWhatIsNotUsedGoes(t *testing.T) {
	dir := t.TempDir()
	c := catalogue.New(dir, zerolog.Nop())
	days := func(n int) time.Time { return time.Now().Add(-time.Duration(n) * 24 * time.Hour) }
	put := func(name string, used time.Time) catalogue.Key {
		k := catalogue.Key{Server: catalogue.Digest([]byte(name)), Client: "c"}
		c.Put(k, entry())
		if err := os.Chtimes(filepath.Join(dir, k.String()+".mcp"), time.Time{}, used); err != nil {
			t.Fatal(err)
		}
		return k
	}
	young, used := put("young", days(89)), put("used", days(89))
	if c.Get(used) == nil {
		t.Fatal("got nothing, want the entry")
	}
	if info, err := os.Stat(filepath.Join(dir, used.String()+".mcp")); err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("after a Get: got %v, %v, want the file marked as used now", info.ModTime(), err)
	}
	for name, at := range map[string]time.Time{"foreign.txt": days(1000), ".new-abandoned": days(1), ".new-fresh": time.Now()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, at); err != nil {
			t.Fatal(err)
		}
	}
	old := put("old", days(91))
	catalogue.New(dir, zerolog.Nop()).Put(key(), entry()) // in another run
	want := []string{".new-fresh", "foreign.txt", key().String() + ".mcp", used.String() + ".mcp", young.String() + ".mcp"}
	slices.Sort(want)
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("got files %q\nwant %q, without %s", got, want, old)
	}
}

// Who puts many entries does not look through the folder for each: only once much was put.
func TestPutLooksAtOthersSeldom(t *testing.T) {
	dir := t.TempDir()
	c := catalogue.New(dir, zerolog.Nop())
	c.Put(key(), entry())
	old := filepath.Join(dir, "old.mcp")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-100*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	c.Put(key(), entry())
	if _, err := os.Stat(old); err != nil {
		t.Errorf("a second entry had the whole folder looked through: %v", err)
	}
	long := entry()
	long.Version = strings.Repeat("x", 5<<20)
	c.Put(key(), long)
	if _, err := os.Stat(old); err == nil {
		t.Error("the folder was not looked through after much was put")
	}
}

// The folder is bounded: what was used longest ago goes first.
func TestTooMuchGoes(t *testing.T) {
	dir := t.TempDir()
	c := catalogue.New(dir, zerolog.Nop())
	for i := range 6 {
		path := filepath.Join(dir, strconv.Itoa(i)+".mcp")
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 13<<20)); err != nil {
			t.Fatal(err)
		}
		_ = os.Chtimes(path, time.Time{}, time.Now().Add(time.Duration(i-10)*time.Hour))
	}
	c.Put(key(), entry())
	want := []string{"2.mcp", "3.mcp", "4.mcp", "5.mcp", key().String() + ".mcp"}
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("got files %q, want %q", got, want)
	}
	if c.Get(key()) == nil {
		t.Error("got nothing, want the newest entry")
	}
	huge := entry()
	huge.Version = strings.Repeat("x", 17<<20)
	c.Put(key(), huge)
	if got := c.Get(key()); got == nil || got.Version != entry().Version {
		t.Error("an entry that is too large replaced the one before it")
	}
}

// write puts an entry that says who wrote it, many times, and reads it back.
func write(c *catalogue.Catalogue, who int) {
	for i := range 50 {
		e := entry()
		e.Lists["tools"] = raw(fmt.Sprintf(`{"name":"%d","x":%q}`, who, strings.Repeat(strconv.Itoa(who), 1000*(i%7))))
		c.Put(key(), e)
		if c.Get(key()) == nil {
			fmt.Println("the entry could not be read")
			os.Exit(1)
		}
	}
}

// Whoever reads while others write finds one whole entry or the other.
func TestProcessesWritingAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), asWriter+"="+dir, "GORACE=atexit_sleep_ms=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	_ = only(t, dir) // nothing is left over
	if catalogue.New(dir, zerolog.Nop()).Get(key()) == nil {
		t.Error("got nothing, want the entry of the last writer")
	}
}
