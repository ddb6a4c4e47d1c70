package command_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// web answers HTTP requests with a status and a body, and remembers them.
type web struct {
	status int
	body   string
	err    error
	asked  []command.HTTPRequest
}

func (w *web) Do(_ context.Context, r command.HTTPRequest) (int, []byte, error) {
	w.asked = append(w.asked, r)
	return w.status, []byte(w.body), w.err
}

// shell runs processes by remembering them.
type shell struct {
	stdout string
	err    error
	ran    []command.ProcessRequest
}

func (s *shell) Run(_ context.Context, r command.ProcessRequest) ([]byte, error) {
	s.ran = append(s.ran, r)
	return []byte(s.stdout), s.err
}

func lookupEnv(name string) (string, bool) {
	v, ok := map[string]string{"TOKEN": "sec}ret", "BROKEN": "a\r\nX-Evil: 1"}[name]
	return v, ok
}

func TestBindingHTTP(t *testing.T) {
	w := folder(t,
		"commands/get.yaml", `
description: d
effect: read
params:
  id: {type: string}
  q: {type: string, optional: true}
http: {url: "https://shop.example/orders/{id}?q={q}&fixed=1", headers: {Authorization: "Bearer ${TOKEN}", X-Id: "{id}"}, timeout: 5s}
outputs: {status: /status}
reply: "{id} is {status}"
`,
		"commands/put.yaml", `
description: d
effect: write
params: {id: {type: string}, n: {type: integer}}
http: {method: PUT, url: "http://localhost:8080/x", body: {id: "{id}", n: "{n}", note: "no. {n}"}}
`,
		"commands/form.yaml", `
description: d
effect: write
http: {url: "http://127.0.0.1/x", headers: {content-type: text/plain}, body: hello}
`,
		"commands/unset.yaml", "description: d\neffect: read\nhttp: {url: \"https://shop.example/\", headers: {A: \"${GONE}\"}}\n",
		"commands/broken.yaml", "description: d\neffect: read\nhttp: {url: \"https://shop.example/\", headers: {A: \"${BROKEN}\"}}\n",
	)
	tests := []struct {
		name, say string
		web       web
		want      string // of the request; "" for none
		text      string // of the answer
		success   bool
	}{
		{name: "values in path and query", say: "get <id>a/b ?</id><q>x&y=1</q>", web: web{status: 200, body: `{"status":"open"}`},
			want: "GET https://shop.example/orders/a%2Fb%20%3F?q=x%26y%3D1&fixed=1 map[Authorization:Bearer sec}ret X-Id:a/b ?] 5s ", text: "a/b ? is open", success: true},
		{name: "no way up", say: "get <id>..</id>", text: `id is "..", which cannot stand in the path of a URL`},
		{name: "nothing in the path", say: "get <id></id>", text: `id is "", which cannot stand`},
		{name: "a header of two lines", say: "get <id>a&#10;X-Evil: 1</id>", text: "header X-Id: its value has a line break"},
		{name: "a body", say: "put <id>${TOKEN}</id><n>3</n>", web: web{status: 204},
			want: `PUT http://localhost:8080/x map[Content-Type:application/json] 0s {"id":"${TOKEN}","n":3,"note":"no. 3"}`, success: true},
		{name: "a type of its own", say: "form", web: web{status: 201, body: "made"}, want: `POST http://127.0.0.1/x map[content-type:text/plain] 0s "hello"`, text: "made", success: true},
		{name: "refused", say: "put <id>a</id><n>3</n>", web: web{status: 409, body: "is\n shipped"},
			want: `PUT http://localhost:8080/x map[Content-Type:application/json] 0s {"id":"a","n":3,"note":"no. 3"}`, text: "put: the server answered HTTP 409: is shipped"},
		{name: "sent on", say: "form", web: web{status: 302}, want: `POST http://127.0.0.1/x map[content-type:text/plain] 0s "hello"`, text: "a redirect, which is not followed"},
		{name: "not reached", say: "form", web: web{err: errors.New("connection refused")}, want: `POST http://127.0.0.1/x map[content-type:text/plain] 0s "hello"`, text: "form: connection refused"},
		{name: "a variable that is not set", say: "unset", text: "the variable GONE is not set in the environment of workbench"},
		{name: "a variable of two lines", say: "broken", text: "header A: its value has a line break"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := command.New(w, command.Options{HTTP: &test.web, LookupEnv: lookupEnv})
			o, err := e.Execute(context.Background(), nil, test.say, command.CallOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, r := range test.web.asked {
				got += fmt.Sprintf("%s %s %v %v %s", r.Method, r.URL, r.Header, r.Timeout, r.Body)
			}
			if got != test.want || o.Output.Success != test.success || !strings.Contains(o.Text(), test.text) {
				t.Errorf("got  %s, %v, %q\nwant %s, %v, %q", got, o.Output.Success, o.Text(), test.want, test.success, test.text)
			}
			if strings.Contains(o.Text(), "sec}ret") {
				t.Errorf("got %q, which shows a secret", o.Text())
			}
		})
	}
}

// Who a command runs for is known by name, and a secret of theirs goes where it is named and nowhere else.
func TestBindingUser(t *testing.T) {
	w := folder(t,
		"commands/ask.yaml", "description: d\neffect: read\nparams: {q: {type: string}}\nhttp: {url: \"https://shop.example/{user_id}?q={q}\", headers: {Authorization: \"Bearer ${user:SHOP}\", Q: \"{q}\"}}\nreply: \"{user_id} asked {q}\"\n",
		"commands/run.yaml", "description: d\neffect: read\nprocess: {argv: [run, \"{user_id}\"], env: {T: \"${user:SHOP}\", N: \"${user:NONE}\"}}\n",
		"commands/call.yaml", "description: d\neffect: read\ntool: {name: s/t, arguments: {owner: \"{user_id}\"}}\n",
		"commands/given.yaml", "description: d\neffect: read\nparams: {user_id: {type: string}}\ntool: {name: s/t, arguments: {owner: \"{user_id}\"}}\n",
	)
	site, sh, tool := &web{status: 200, body: "ok"}, &shell{}, &recorder{}
	all := command.New(w, command.Options{HTTP: site, Process: sh, Caller: tool, Credential: func(_ context.Context, user, name string) (string, error) {
		if name != "SHOP" {
			return "", fmt.Errorf("%s has no %s", user, name)
		}
		return "key-of-" + user, nil
	}})
	for _, tt := range []struct{ user, say, got, text string }{
		{"ada", "ask <q>${user:SHOP} {user_id}</q>", "https://shop.example/ada?q=%24%7Buser%3ASHOP%7D+%7Buser_id%7D Bearer key-of-ada ${user:SHOP} {user_id}", "ada asked ${user:SHOP} {user_id}"},
		{"a/../b", "ask <q>x</q>", "https://shop.example/a%2F..%2Fb?q=x Bearer key-of-a/../b x", "a/../b asked x"},
		{"", "ask <q>x</q>", "", "cannot stand in the path of a URL"},
		{"ada", "run", "", "run was not run: env N: ada has no NONE"},
		{"-rf", "run", "", "begins with a dash"},
		{"ada", "call", `box/s/t {"owner":"ada"}`, "done"},
		{"", "call", "box/s/t {}", "done"},
		{"ada", "given <user_id>bob</user_id>", `box/s/t {"owner":"bob"}`, "done"},
	} {
		site.asked, sh.ran, tool.calls = nil, nil, nil
		e := all
		if tt.user != "" {
			e = all.For(tt.user)
		}
		o, err := e.Execute(t.Context(), nil, tt.say, command.CallOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(tool.calls, "")
		for _, r := range site.asked {
			got += r.URL + " " + r.Header["Authorization"] + " " + r.Header["Q"]
		}
		said := fmt.Sprintf("%+v", o)
		if got != tt.got || len(sh.ran) > 0 || !strings.Contains(o.Text(), tt.text) || strings.Contains(said, "key-of-") {
			t.Errorf("%s by %q: got %q and %q, want %q and %q", tt.say, tt.user, got, o.Text(), tt.got, tt.text)
		}
	}
	nobody, err := command.New(w, command.Options{HTTP: site}).For("ada").Execute(t.Context(), nil, "ask <q>x</q>", command.CallOptions{})
	if err != nil || !strings.Contains(nobody.Text(), "users are not told apart here") {
		t.Errorf("got %+v, %v, want no request without the secret", nobody, err)
	}
}

func TestBindingProcess(t *testing.T) {
	w := folder(t,
		"commands/count.yaml", `
description: d
effect: read
params:
  file: {type: string}
  deep: {type: integer, default: 1}
process: {argv: [wc, --lines, "--depth={deep}", "{file}"], env: {TOKEN: "${TOKEN}", FILE: "{file}"}, timeout: 1m}
outputs: {lines: /lines}
reply: "{file} has {lines} lines"
`,
		"commands/feed.yaml", "description: d\neffect: write\nparams: {x: {type: string}}\nprocess: {argv: [feed], stdin: {was: \"{x}\"}}\n",
	)
	tests := []struct {
		name, say string
		shell     shell
		want      string // of the process; "" for none
		text      string
		success   bool
	}{
		{name: "arguments", say: "count <file>a b; rm -r $HOME</file>", shell: shell{stdout: "{\"lines\":7}\n"},
			want: `["wc" "--lines" "--depth=1" "a b; rm -r $HOME"] ["TOKEN=sec}ret" "FILE=a b; rm -r $HOME"] 1m0s {"file":"a b; rm -r $HOME","deep":1}`,
			text: "has 7 lines", success: true},
		{name: "no option of the caller's", say: "count <file>--files0-from=/etc/passwd</file>", text: "begins with a dash"},
		{name: "no NUL", say: "count <file>a\x00b</file>", text: "a NUL character"},
		{name: "input of its own", say: "feed <x>1</x>", shell: shell{stdout: " done \n\n"}, want: `["feed"] [] 0s {"was":"1"}`, text: " done", success: true},
		{name: "it fails", say: "feed <x>1</x>", shell: shell{err: errors.New("exit status 3: no such thing")}, want: `["feed"] [] 0s {"was":"1"}`, text: "feed: exit status 3: no such thing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := command.New(w, command.Options{Process: &test.shell, LookupEnv: lookupEnv})
			o, err := e.Execute(context.Background(), nil, test.say, command.CallOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, r := range test.shell.ran {
				got += fmt.Sprintf("%q %q %v %s", r.Argv, r.Env, r.Timeout, r.Stdin)
			}
			if got != test.want || o.Output.Success != test.success || !strings.Contains(o.Text(), test.text) {
				t.Errorf("got  %s, %v, %q\nwant %s, %v, %q", got, o.Output.Success, o.Text(), test.want, test.success, test.text)
			}
		})
	}
	for _, say := range []string{"feed <x>1</x>", "count <file>a</file>"} {
		o, err := command.New(w, command.Options{}).Execute(context.Background(), nil, say, command.CallOptions{})
		if err != nil || o.Output.Success || !strings.Contains(o.Text(), "is not allowed here") {
			t.Errorf("%s: got %+v, %v, want that nothing runs processes here", say, o, err)
		}
	}
}
