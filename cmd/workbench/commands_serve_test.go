package main

import (
	"io"
	"strings"
	"testing"
)

// The variables of the specification make a command string, or are refused.
func TestStartup(t *testing.T) {
	for _, tt := range []struct{ environ, want, err string }{
		{"", "", ""},
		{"STARTUP_COMMAND=list_orders", "list_orders", ""},
		{`STARTUP_ACTION={"command_name":"find","arguments":{"words":"Tom & <Jerry>","n":2}}`, "find <n>2</n> <words>Tom &amp; &lt;Jerry></words>", ""},
		{`STARTUP_ACTION={"command_name":"find","parameters":{"n":true}}`, "find <n>true</n>", ""},
		{`STARTUP_ACTION=find`, "", "STARTUP_ACTION is no action in JSON"},
		{"STARTUP_COMMAND=a|STARTUP_ACTION={}", "", "both set"},
		{`CONTEXT={"a":1}`, "", "CONTEXT"},
		{"PROJECT_FOLDERPATH=/x", "", "PROJECT_FOLDERPATH"},
	} {
		env := &environment{streams: streams{strings.NewReader(""), io.Discard, io.Discard}, environ: strings.Split(tt.environ, "|")}
		got, err := env.startup()
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got %q, %v, want %q, %q", tt.environ, got, err, tt.want, tt.err)
		}
	}
}
