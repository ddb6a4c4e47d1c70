package workflowsrv_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

var update = flag.Bool("update", false, "rewrite the transcripts from what is answered")

// TestTranscripts plays the conversations in testdata against their door: the last file of an archive has lines that
// begin with ">", which are sent, and with "<", which must be answered, in this order. "<" alone means that there is no
// answer. A line that begins with "=" is what a document prints as the answer: the answer must have all of it, and may
// have more. The other files of the archive lie in a directory of the configuration. go test -update writes the
// answers.
func TestTranscripts(t *testing.T) {
	for _, door := range []string{"bare", "mcp"} {
		archives, err := filepath.Glob(filepath.Join("testdata", door, "*.txtar"))
		if err != nil || len(archives) == 0 {
			t.Fatalf("no transcripts for the door %s: %v", door, err)
		}
		for _, name := range archives {
			t.Run(door+"/"+strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
				archive, err := txtar.ParseFile(name)
				if err != nil {
					t.Fatal(err)
				}
				last := &archive.Files[len(archive.Files)-1]
				got := converse(t, door, archive.Files[:len(archive.Files)-1], string(last.Data))
				if *update {
					last.Data = []byte(got)
					if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
						t.Fatal(err)
					}
				} else if got != string(last.Data) {
					t.Errorf("got\n%s\nwant\n%s", got, last.Data)
				}
			})
		}
	}
}

// converse plays a transcript and returns it with the answers that came.
func converse(t *testing.T, door string, files []txtar.File, transcript string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := workflowsrv.New(workflowsrv.Options{Sources: definition.Layers{Dirs: []string{dir}}.Sources()})
	var endpoint wire.Endpoint = server
	if door == "bare" {
		endpoint = server.Bare(nil)
	}
	p := connect(t, endpoint)
	var b strings.Builder
	answer := ""
	for line := range strings.Lines(transcript) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, ">"):
			b.WriteString(line + "\n")
			answer = p.ask(strings.TrimPrefix(strings.TrimPrefix(line, ">"), " "))
			fmt.Fprintln(&b, strings.TrimSuffix("< "+strings.ReplaceAll(answer, dir, "$WORK"), " "))
		case strings.HasPrefix(line, "="):
			b.WriteString(line + "\n")
			checkHas(t, answer, strings.TrimPrefix(line, "="))
		case strings.HasPrefix(line, "<"):
		default:
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// A peerClient is the other side of a session.
type peerClient struct {
	t       *testing.T
	session wire.Session
	heard   chan string // answers and questions
	changes chan string // what the server tells of changes
}

func connect(t *testing.T, e wire.Endpoint) *peerClient {
	t.Helper()
	p := &peerClient{t: t, heard: make(chan string, 100), changes: make(chan string, 1000)}
	p.session = e.Connect(func(msg []byte) {
		if bytes.Contains(msg, []byte(`_changed"`)) || bytes.Contains(msg, []byte(`"notifications/resources/updated"`)) {
			p.changes <- string(msg)
			return
		}
		p.heard <- string(msg)
	})
	t.Cleanup(func() { p.session.Close(context.Background()) })
	return p
}

// ask sends a message and returns what comes back. For a message that is not answered it returns "", which it knows by
// the answer to a ping behind it.
func (p *peerClient) ask(msg string) string {
	p.t.Helper()
	var request map[string]json.RawMessage
	if json.Unmarshal([]byte(msg), &request) == nil && request["id"] == nil && request["method"] != nil {
		p.session.Receive([]byte(msg))
		const ping = `{"jsonrpc":"2.0","id":"after","method":"ping"}`
		p.session.Receive([]byte(ping))
		if got := <-p.heard; !strings.Contains(got, `"id":"after"`) {
			p.t.Errorf("%s: got %s, want no answer", msg, got)
		}
		return ""
	}
	p.session.Receive([]byte(msg))
	select {
	case got := <-p.heard:
		return got
	case <-p.t.Context().Done():
		return ""
	}
}

// checkHas compares an answer with one that a document prints.
func checkHas(t *testing.T, got, printed string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal([]byte(printed), &w); err != nil {
		t.Fatalf("%s: %v", printed, err)
	}
	if diff := lacks(g, w, ""); diff != "" {
		t.Errorf("got %s, want all of %s: %s", got, printed, diff)
	}
}

// lacks names the first part of want that got does not have: members of objects may come on top, all else must be
// equal.
func lacks(got, want any, path string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return path + " is no object"
		}
		for name, value := range w {
			if _, ok := g[name]; !ok {
				return path + "/" + name + " is not there"
			}
			if diff := lacks(g[name], value, path+"/"+name); diff != "" {
				return diff
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s is %v, want %v", path, got, want)
		}
		for i := range w {
			if diff := lacks(g[i], w[i], fmt.Sprintf("%s/%d", path, i)); diff != "" {
				return diff
			}
		}
		return ""
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("%s is %v, want %v", path, got, want)
	}
	return ""
}

// TestShutdown makes sure that the end is told, once, after the answer.
func TestShutdown(t *testing.T) {
	server := workflowsrv.New(workflowsrv.Options{})
	var events bytes.Buffer
	s := server.Bare(func() { events.WriteString("ended ") }).Connect(func(msg []byte) { events.Write(append(msg, ' ')) })
	for range 2 {
		s.Receive([]byte(`{"jsonrpc":"2.0","id":1,"method":"shutdown"}`))
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got, want := events.String(), `{"jsonrpc":"2.0","id":1,"result":null} ended `; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
