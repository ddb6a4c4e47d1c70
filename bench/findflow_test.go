package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/find"
)

func TestFlow(t *testing.T) {
	p := built(t)
	var entries []find.Entry
	for i, word := range []string{"ticket", "invoice", "weather", "photo"} {
		entries = append(entries, find.Entry{Name: "open_" + word, Description: fmt.Sprintf("Opens %s number %d", word, i), Schema: json.RawMessage(`{"type":"object"}`)})
	}
	task := sharedTask{Needed: []string{"open_ticket"}, Queries: []struct{ Server, Tool string }{{"tickets", "opens a ticket"}}}
	var out bytes.Buffer
	if err := measureFlow(bounded(t), p, 3, []find.Server{{Name: "office", Entries: entries}}, []sharedTask{task}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 toolboxes, 60 tools", "\nflat ", "\ntoolboxes ", "\nsearch "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%s\nwant %q in it", &out, want)
		}
	}
}
