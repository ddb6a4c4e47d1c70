package lock_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/lock"
)

// What says the same has the same text, however it is written.
func TestSameThings(t *testing.T) {
	for name, pair := range map[string][2]string{
		"order of members":    {`{"name":"a","inputSchema":{"type":"object","properties":{"x":{},"y":{}}}}`, `{"inputSchema":{"properties":{"y":{},"x":{}},"type":"object"},"name":"a"}`},
		"space":               {`{"name":"a","inputSchema":{}}`, "{ \"name\" : \"a\",\n\t\"inputSchema\": { } }"},
		"escapes":             {`{"name":"ab/","description":"\u0041\n\u00e9\ud83d\ude00\u200b"}`, "{\"name\":\"\\u0061b\\/\",\"description\":\"A\\u000a\u00e9\U0001F600\u200b\"}"},
		"what does not count": {`{"name":"a"}`, `{"name":"a","icons":[{"src":"x"}],"_meta":{"x":1},"x-other":2}`},
		"sets":                {`{"name":"a","inputSchema":{"required":["x","y"],"enum":[1,2],"type":["string","null"]}}`, `{"name":"a","inputSchema":{"required":["y","x"],"enum":[2,1],"type":["null","string"]}}`},
		"dates in words": {`{"name":"a","description":"Today is 2026-11-22. At 2026-11-22T10:00:00.123Z.","inputSchema":{"properties":{"x":{"description":"since 2026-11-01"}}}}`,
			`{"name":"a","description":"Today is 2027-01-02. At 2027-01-02T23:59:00Z.","inputSchema":{"properties":{"x":{"description":"since 2027-01-01"}}}}`},
		"dates in words, behind what is none": {`{"name":"a","description":"12026-11-22-2026-11-22 2026-11-22T10:2026-11-22 2026-11-22+10:2026-11-22"}`,
			`{"name":"a","description":"12026-11-22-2027-01-02 2026-11-22T10:2027-01-02 2026-11-22+10:2027-01-02"}`},
	} {
		a, b := lock.NewItem(lock.Tool, []byte(pair[0])), lock.NewItem(lock.Tool, []byte(pair[1]))
		if !a.Same(&b) {
			t.Errorf("%s: got %s and %s, want them to be the same", name, a.Text, b.Text)
		}
		if !strings.HasPrefix(name, "dates in words") && a.Digest() != b.Digest() {
			t.Errorf("%s: the digests differ: %s and %s", name, a.Text, b.Text)
		}
	}
}

// Numbers are not read as numbers.
func TestNumbersStayAsWritten(t *testing.T) {
	it := lock.NewItem(lock.Tool, []byte(`{"name":"a","inputSchema":{"maximum":18446744073709551617,"minimum":1e400,"multipleOf":1.0}}`))
	if want := `{"inputSchema":{"maximum":18446744073709551617,"minimum":1e400,"multipleOf":1.0},"name":"a"}`; string(it.Text) != want {
		t.Errorf("got %s\nwant %s", it.Text, want)
	}
}

func sample() *lock.File {
	f := lock.New()
	id := lock.ID{Toolbox: "dev", Server: "git\u200bhub"}
	f.Replace(id, []lock.Item{
		lock.NewItem(lock.Tool, []byte(`{"name":"b/c","description":"reads\u202e","inputSchema":{"type":"object"}}`)),
		lock.NewItem(lock.Tool, []byte(`{"name":"a","inputSchema":{"type":"object","properties":{"n":{"maximum":1.50}}}}`)),
		lock.NewItem(lock.Instructions, []byte(`"Be \"kind\"\nto others"`)),
		lock.NewItem(lock.Start, []byte(`{"command":"npx","args":["-y","x"]}`)),
		lock.NewItem(lock.Prompt, []byte(`{"name":"a","arguments":[{"name":"q","required":true}]}`)),
		lock.NewItem(lock.Template, []byte(`{"name":"t","uriTemplate":"x://{a}"}`)),
	})
	f.Replace(lock.ID{Toolbox: "a", Server: "z"}, []lock.Item{lock.NewItem(lock.Start, []byte(`{"command":"z"}`))})
	return f
}

// A file has an item a line, and comes back as it was.
func TestFile(t *testing.T) {
	data := sample().Encode()
	if got := bytes.Count(data, []byte("\n")); got != 9 {
		t.Errorf("got %d lines, want 9:\n%s", got, data)
	}
	if bytes.ContainsAny(data, "\u200b\u202e") {
		t.Errorf("hidden characters stand in the file:\n%s", data)
	}
	back, err := lock.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if again := back.Encode(); !bytes.Equal(again, data) {
		t.Errorf("got\n%s\nwant\n%s", again, data)
	}
	// Other programs lay JSON out anew.
	spread := strings.NewReplacer(`","`, "\",\n  \"", `:{`, `: {`).Replace(string(data))
	if back, err = lock.Parse([]byte(spread)); err != nil || !bytes.Equal(back.Encode(), data) {
		t.Errorf("laid out anew: got %v, want the same file", err)
	}
	if empty, err := lock.Parse(lock.New().Encode()); err != nil || len(empty.Servers()) != 0 {
		t.Errorf("got %v of an empty file, want no servers", err)
	}
}

// What is not a lock file is refused, with the line.
func TestBadFiles(t *testing.T) {
	good := string(sample().Encode())
	lines := strings.SplitAfter(good, "\n")
	for name, c := range map[string]struct{ data, want string }{
		"empty":         {"", "not JSON"},
		"an array":      {"[]", "JSON object"},
		"a merge":       {strings.Join(lines[:2], "") + "<<<<<<< HEAD\n" + strings.Join(lines[2:], ""), "line 3"},
		"newer":         {strings.Replace(good, `workbenchLock":1`, `workbenchLock":2`, 1), "version"},
		"changed value": {strings.Replace(good, `"npx"`, `"npy"`, 1), "line 3"},
		"changed name":  {strings.Replace(good, `"name":"a","digest`, `"name":"x","digest`, 1), "not named as its value"},
		"an item twice": {strings.Replace(good, lines[4], lines[4]+lines[4], 1), "there twice"},
		"no server":     {strings.Replace(good, `"server":"a/z"`, `"server":"az"`, 1), "has no server"},
		"other kind":    {strings.Replace(good, `"kind":"start"`, `"kind":"stop"`, 1), "no kind"},
		"list of lists": {`{"workbenchLock":1,"items":[[]]}`, "line 1"},
		"no items":      {`{"workbenchLock":1}`, "no list"},
	} {
		if _, err := lock.Parse([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

// An item that says the same stays as it was written, so that dates do not change the file each day.
func TestReplaceKeeps(t *testing.T) {
	f, id := lock.New(), lock.ID{Toolbox: "a", Server: "b"}
	f.Replace(id, []lock.Item{lock.NewItem(lock.Tool, []byte(`{"name":"x","description":"Today is 2026-11-22"}`))})
	before := f.Encode()
	f.Replace(id, []lock.Item{lock.NewItem(lock.Tool, []byte(`{"name":"x","description":"Today is 2026-11-23"}`))})
	if !bytes.Equal(f.Encode(), before) {
		t.Errorf("got %s, want it unchanged", f.Encode())
	}
}
