package pageview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/toolbox"
)

// fakeFront answers each tools/call with its parameters, less their _meta.
type fakeFront struct{ log *calls.Log }

func (fakeFront) Admit(context.Context, string) (principal.Principal, error) {
	return principal.Principal{Name: "ada"}, nil
}

func (fakeFront) Ask(_ context.Context, who principal.Principal, request []byte, _ func([]byte)) ([]byte, error) {
	var asked struct{ Params map[string]json.RawMessage }
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, err
	}
	delete(asked.Params, "_meta")
	params, err := json.Marshal(asked.Params)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"for":%q,"params":%s}}`, who.Name, params), err
}

func (fakeFront) Restart(_ principal.Principal, toolbox, server string) (bool, error) {
	if server == "all" {
		return false, errors.New("it is shared")
	}
	return toolbox+"/"+server == "shop/desk", nil
}

func (f fakeFront) Calls() *calls.Log { return f.log }

// Each action does for a viewer what the viewer may have done, and what the query names is never a flag of a command.
func TestActions(t *testing.T) {
	ada := principal.Principal{Name: "ada", Toolboxes: []string{"shop"}}
	all := principal.Principal{Name: "ada"}
	admin := principal.Principal{Name: "root", Admin: true}
	for _, tt := range []struct {
		action string
		who    principal.Principal
		body   string
		ran    string // the command, "" for none
		want   string // a piece of the answer or of the error
	}{
		{"workflows", admin, `{}`, "workflow list --json", "printed"},
		{"workflow", admin, `{"id":"--help"}`, "workflow show --json -- --help", "printed"},
		{"conversations", admin, `{}`, "conversations list --json --limit=200", "printed"},
		{"conversations", all, `{}`, "conversations list --json --user=ada --limit=200", "printed"},
		{"conversation", all, `{"id":"c1"}`, "conversations show --json --user=ada -- c1", "printed"},
		{"conversation", ada, `[]`, "", "the request is not understood"},
		{"run", all, `{"id":"r1","user":"bob"}`, "runs show --json --user=ada -- r1", "printed"},
		{"tools", ada, `{"toolbox":"shop"}`, "tools --offline --json -- shop", "cannot unmarshal"},
		{"tools", ada, `{"toolbox":"other"}`, "", `there is no toolbox "other" here`},
		{"tools", admin, `{}`, "", `there is no toolbox "" here`},
		{"able", admin, `{"toolbox":"shop","server":"desk","enabled":true}`, "enable -- shop/desk", "null"},
		{"able", admin, `{"toolbox":"shop","server":"-x"}`, "disable -- shop/-x", "null"},
		{"login", admin, `{"toolbox":"shop","server":"desk"}`, "", "a login needs a browser of the machine"},
		{"answer", admin, `{"id":"7-1","agree":true}`, "approve -- 7-1", "null"},
		{"answer", admin, `{"id":"7-1"}`, "approve --refuse -- 7-1", "null"},
		{"restart", ada, `{"toolbox":"shop","server":"desk","pid":7}`, "", "null"},
		{"restart", ada, `{"toolbox":"shop","server":"none","pid":7}`, "", "shop/none is no longer open there"},
		{"restart", ada, `{"toolbox":"shop","server":"all","pid":7}`, "", "it is shared"},
		{"open", ada, `{"toolbox":"shop"}`, "", `{"for":"ada","params":{"arguments":{"toolbox_name":"shop"},"name":"workbench_open_toolbox"}}`},
		{"call", ada, `{"toolbox":"shop","server":"desk","tool":"a\"b"}`, "", `{"tool":{"toolbox":"shop","server":"desk","name":"a\"b"},"arguments":{}}`},
		{"call", ada, `{"toolbox":"shop","server":"desk","tool":"a","arguments":{"n":1.0}}`, "", `"name":"a"},"arguments":{"n":1.0}}`},
		{"call", ada, `{"toolbox":"other","server":"desk","tool":"a"}`, "", `there is no toolbox "other" here`},
		{"recorded", ada, `{"id":"none"}`, "", "this call is no longer kept"},
	} {
		ran := ""
		opts := Options{Way: page.ByToken, Approvals: approval.New("1-"), Run: func(_ context.Context, out io.Writer, args ...string) error {
			ran = strings.Join(args, " ")
			_, err := io.WriteString(out, ` "printed" `)
			return err
		}}
		v := New(opts)
		v.Begin(fakeFront{calls.New("")}, func() status.Workbench { return status.Workbench{PID: 7} })
		answer, err := v.actions(&opts)[tt.action].Do(t.Context(), &page.Query{Viewer: page.Viewer{Principal: tt.who}, Body: []byte(tt.body)})
		got, wrong := json.Marshal(answer)
		if err != nil {
			got = []byte(err.Error())
		}
		if wrong != nil || ran != tt.ran || !strings.Contains(string(got), tt.want) {
			t.Errorf("%s %s of %s: got the command %q and the answer %s, want %q and %s", tt.action, tt.body, tt.who.Name, ran, got, tt.ran, tt.want)
		}
	}
}

// With a token that is limited to toolboxes one sees what is kept of their workflows, and nothing else of one's own.
func TestKeptOfALimitedToken(t *testing.T) {
	run := func(_ context.Context, out io.Writer, args ...string) error {
		text := `[{"conversation_id":"1","workflow":"Two"},{"conversation_id":"2","workflow":"One"}]`
		switch {
		case args[0] == "runs":
			text = `[{"run":"1"}]`
		case args[1] == "show":
			text = `{"conversation_id":"` + args[len(args)-1] + `","workflow":"` + args[len(args)-1] + `"}`
		}
		_, err := io.WriteString(out, text)
		return err
	}
	for _, tt := range []struct {
		who  principal.Principal
		one  string // the conversations and runs that are listed
		two  string // a conversation of the workflow Two
		runs string
	}{
		{principal.Principal{Name: "ada", Toolboxes: []string{"one"}}, `[{"conversation_id":"2","workflow":"One"}]`, "may use no toolbox", "[]"},
		{principal.Principal{Name: "ada", Toolboxes: []string{"wf"}}, `[]`, "may use no toolbox", `[{"run":"1"}]`},
		{principal.Principal{Name: "ada"}, `[{"conversation_id":"1","workflow":"Two"},{"conversation_id":"2","workflow":"One"}]`, `"conversation_id":"Two"`, `[{"run":"1"}]`},
	} {
		opts := Options{Approvals: approval.New("1-"), Run: run,
			Workflows: func(who principal.Principal) ([]string, error) {
				return map[string][]string{"one": {"One"}}[who.Toolboxes[0]], nil
			},
			HasRuns: func(who principal.Principal) bool { return who.May("wf") }}
		v := New(opts)
		do := func(action, body string) string {
			answer, err := v.actions(&opts)[action].Do(t.Context(), &page.Query{Viewer: page.Viewer{Principal: tt.who}, Body: []byte(body)})
			if err != nil {
				return err.Error()
			}
			text, _ := json.Marshal(answer)
			return string(text)
		}
		if got := do("conversations", `{}`); got != tt.one {
			t.Errorf("%v: got the conversations %s, want %s", tt.who.Toolboxes, got, tt.one)
		}
		if got := do("conversation", `{"id":"Two"}`); !strings.Contains(got, tt.two) {
			t.Errorf("%v: got %s, want %s", tt.who.Toolboxes, got, tt.two)
		}
		if got := do("run", `{"id":"1"}`); strings.Contains(got, "may use no toolbox") != (tt.runs == "[]") {
			t.Errorf("%v: got %s", tt.who.Toolboxes, got)
		}
		list, _ := json.Marshal((&runs{run: run, of: opts.HasRuns, last: make(map[string]*latest)}).look(t.Context(), &page.Query{Viewer: page.Viewer{Principal: tt.who}}))
		if string(list) != tt.runs {
			t.Errorf("%v: got the runs %s, want %s", tt.who.Toolboxes, list, tt.runs)
		}
	}
}

// Of a gateway somebody who does not act for others sees what is theirs alone, and no other workbench of the machine.
func TestSeenOfAGateway(t *testing.T) {
	boxes := []status.Toolbox{{Name: "shop"}, {Name: "other"}}
	own := status.Workbench{PID: 7, Dir: "/secret", Front: status.Front{Sessions: []status.Session{{User: "ada", Toolboxes: boxes}, {User: "bob", Toolboxes: boxes}},
		Calls: []status.Calls{{Toolbox: "shop"}}}}
	v := New(Options{Way: page.ByToken})
	v.Begin(fakeFront{}, func() status.Workbench { return own })
	none := func(principal.Principal) bool { return false }
	errEnough := errors.New("enough")
	for _, tt := range []struct {
		who      principal.Principal
		sessions int
		secret   bool
	}{
		{principal.Principal{Name: "ada", Toolboxes: []string{"shop"}}, 1, false},
		{principal.Principal{Name: "root", Admin: true}, 2, true},
	} {
		var seen []status.Workbench
		q := &page.Query{Viewer: page.Viewer{Principal: tt.who}, Note: func(v any) error {
			seen = v.(note).Data.([]status.Workbench)
			return errEnough
		}}
		if _, err := v.actions(&Options{Approvals: approval.New("1-"), HasRuns: none, Run: func(context.Context, io.Writer, ...string) error { return errEnough }})["watch"].Do(t.Context(), q); err != errEnough {
			t.Errorf("%s: got %v, want to be told", tt.who.Name, err)
		}
		if len(seen) != 1 || len(seen[0].Sessions) != tt.sessions || (seen[0].Dir != "") != tt.secret || (len(seen[0].Calls) > 0) != tt.secret {
			t.Errorf("%s: got %+v", tt.who.Name, seen)
		}
		if others := func(b status.Toolbox) bool { return b.Name == "other" }; slices.ContainsFunc(seen[0].Sessions[0].Toolboxes, others) != tt.secret {
			t.Errorf("%s: got the toolboxes %v", tt.who.Name, seen[0].Sessions[0].Toolboxes)
		}
	}
}

// The latest runs are those of the viewer, and not those of the viewer among the latest of all.
func TestRunsOfAViewer(t *testing.T) {
	run := func(_ context.Context, out io.Writer, args ...string) error {
		_, err := fmt.Fprintf(out, "[%q]", strings.Join(args, " "))
		return err
	}
	errEnough := errors.New("enough")
	v := New(Options{Way: page.ByToken})
	v.Begin(fakeFront{}, func() status.Workbench { return status.Workbench{} })
	actions := v.actions(&Options{Approvals: approval.New("1-"), Run: run})
	for _, tt := range []struct {
		who  principal.Principal
		want string
	}{
		{principal.Principal{Name: "ada"}, `["runs list --json --limit=200 --user=ada"]`},
		{principal.Principal{Name: "root", Admin: true}, `["runs list --json --limit=200"]`},
		{principal.Principal{Name: "bob"}, `["runs list --json --limit=200 --user=bob"]`},
	} {
		var got []byte
		q := &page.Query{Viewer: page.Viewer{Principal: tt.who}, Note: func(v any) error {
			n := v.(note)
			if n.Kind != "runs" {
				return nil
			}
			got, _ = json.Marshal(n.Data)
			return errEnough
		}}
		if _, err := actions["watch"].Do(t.Context(), q); err != errEnough || string(got) != tt.want {
			t.Errorf("%s: got %s and %v, want %s", tt.who.Name, got, err, tt.want)
		}
	}
}

// What the definitions cost a viewer does not depend on toolboxes that the viewer may not use.
func TestCostsOfAViewer(t *testing.T) {
	costs := func(hidden string) string {
		cfg, err := config.Parse("c.json", fmt.Appendf(nil, `{"toolboxes":{"shop":{"mcpServers":{}},%q:{"description":%q,"mcpServers":{}}}}`, hidden, strings.Repeat(hidden, 100)), func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(err)
		}
		recall := func() ([]*toolbox.Toolbox, *config.Config, error) { return nil, cfg, nil }
		got, err := tools{recall: recall}.toolboxes(t.Context(), &page.Query{Viewer: page.Viewer{Principal: principal.Principal{Name: "ada", Toolboxes: []string{"shop"}}}})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(got)
	}
	if short, long := costs("other"), costs("another"); short != long {
		t.Errorf("got %s and %s, want the same", short, long)
	}
}
