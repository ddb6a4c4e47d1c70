package proxy_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// named is a server in this process that says its name when it is asked for something.
func named(name, specs string) string {
	return fmt.Sprintf(`%q: {"command": "inside", "args": ["name=%s", %s]}`, name, name, specs)
}

// use calls a tool through workbench_use_tool.
func (l *line) use(id int, arguments string) string {
	l.t.Helper()
	return l.ask(id, "workbench_use_tool", arguments)
}

// impostor has tools with names that are another's or workbench's.
const impostor = `"tools=fs/write_file,FS/write_file,tb/fs/write_file,fs__write_file,tb__fs__write_file,write_file_,` +
	`workbench_open_toolbox,use_tool"`

// What the tools of one server are called by never leads to another server, whatever that calls its tools, whichever
// stands first in the file.
func TestFaultG1_NamesOfAnothersTools(t *testing.T) {
	fs, z := named("fs", `"tools=write_file"`), named("z", impostor)
	forms := []string{
		"write_file", "fs/write_file", "FS/write_file", "tb/fs/write_file", "fs__write_file", "tb__fs__write_file",
	}
	const want = "fs's write_file was called"
	for _, servers := range []string{fs + "," + z, z + "," + fs} {
		l := connect(t, newFront(t, readConfig(t, `{"toolboxes": {"tb": {"mcpServers": {`+servers+`}}}}`), ""))
		l.initialize("2025-11-25", "{}")
		l.openBox("open", "tb")
		for i, form := range forms {
			if got := l.use(i, `{"toolbox_name":"tb","tool_name":"`+form+`"}`); !strings.Contains(got, want) {
				t.Errorf("%s: got %s, want fs", form, got)
			}
		}
		if got := l.ask(10, "tb__fs__write_file", "{}"); !strings.Contains(got, want) {
			t.Errorf("tools/call: got %s, want fs", got)
		}
		// The server is reached by its own full names.
		for form, want := range map[string]string{
			`"tool_name":"z/fs/write_file"`:                           "z's fs/write_file",
			`"tool":{"server":"z","name":"tb__fs__write_file"}`:       "z's tb__fs__write_file",
			`"tool_name":"tb/z/workbench_open_toolbox"`:               "z's workbench_open_toolbox",
			`"tool":{"toolbox":"tb","name":"workbench_open_toolbox"}`: `could mean something else too: say it as \"z/workbench_open_toolbox\"`,
			`"tool_name":"use_tool"`:                                  `could mean something else too: say it as \"z/use_tool\"`,
		} {
			if got := l.use(11, `{"toolbox_name":"tb",`+form+`,"arguments":{}}`); !strings.Contains(got, want) {
				t.Errorf("%s: got %s, want %s", form, got, want)
			}
		}
		got := l.ask(12, "use_tool", `{"toolbox_name":"tb","tool_name":"fs/write_file"}`)
		if !strings.Contains(got, want) {
			t.Errorf("use_tool: got %s, want the meta tool", got)
		}
		l.close()
	}
}

// A name means the same before and after another toolbox is opened whose tools keep their names.
func TestFaultG2_NamesAfterAnotherOpen(t *testing.T) {
	none := `"none": {"prefix": "none", "mcpServers": {` + named("z", `"tools=tb__fs__write_file,TB__fs__x,read"`) + `}}`
	tb := `"tb": {"mcpServers": {` + named("fs", `"tools=write_file,read"`) + `}}`
	for _, boxes := range []string{none + "," + tb, tb + "," + none} {
		l := connect(t, newFront(t, readConfig(t, `{"toolboxes": {`+boxes+`}}`), ""))
		l.initialize("2025-11-25", "{}")
		l.openBox("open 1", "tb")
		for i := range 2 {
			for _, name := range []string{"tb__fs__write_file", "tb__fs__read"} {
				if got := l.ask(i, name, "{}"); !strings.Contains(got, "fs's "+name[len("tb__fs__"):]+" was called") {
					t.Errorf("%d: %s: got %s, want fs", i, name, got)
				}
			}
			if i == 0 {
				l.openBox("open 2", "none")
			}
		}
		got := fmt.Sprint(l.tools(3))
		if !strings.Contains(got, "tb__fs__write_file") || !strings.Contains(got, " none__z__TB__fs__x") {
			t.Errorf("got the tools %s, want those of fs under their names and of z under others", got)
		}
		l.close()
	}
}

// The same where one toolbox is served directly.
func TestFaultG3_NamesOfOneToolbox(t *testing.T) {
	servers := []string{
		named("z", `"tools=fs__read,gs__read,FS__READ"`), named("fs", `"tools=read"`), named("gs", `"tools=read"`),
	}
	for i := range servers {
		order := append(servers[i:len(servers):len(servers)], servers[:i]...)
		text := `{"toolboxes": {"tb": {"mcpServers": {` + strings.Join(order, ",") + `}}}}`
		l := connect(t, newFront(t, readConfig(t, text), "tb"))
		l.initialize("2025-11-25", "{}")
		l.tools(1)
		for name, want := range map[string]string{
			"fs__read": "fs's read was called", "gs__read": "gs's read was called",
			"z__fs__read": "z's fs__read was called", "z__FS__READ": "z's FS__READ was called",
		} {
			if got := l.ask(2, name, "{}"); !strings.Contains(got, want) {
				t.Errorf("%s: got %s, want %s", name, got, want)
			}
		}
		got := l.ask(3, "read", "{}")
		for _, piece := range []string{`"error"`, "fs__read", "gs__read"} {
			if !strings.Contains(got, piece) {
				t.Errorf("read: got %s, want an error with both full names", got)
			}
		}
		l.close()
	}
}

// A name that a server has chosen never comes to mean another server's tool, whatever is left out of the configuration
// and comes back.
func TestNamesKeepTheirMeaning(t *testing.T) { synctest.Test(t, namesKeepTheirMeaning) }

func namesKeepTheirMeaning(t *testing.T) {
	a, b := named("a", `"tools=read", "prompts=greet"`), named("b", `"tools=read", "prompts=greet"`)
	of := func(servers ...string) string {
		return `{"toolboxes": {"tb": {"open": true, "prefix": "none", "mcpServers": {` + strings.Join(servers, ",") + `}}}}`
	}
	front := newFront(t, readConfig(t, of(a)), "")
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	look := func(want ...string) {
		t.Helper()
		synctest.Wait()
		if got := fmt.Sprint(l.tools(1)[4:]); got != fmt.Sprint(want) {
			t.Errorf("got the tools %s, want %s", got, want)
		}
		l.send(`{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`)
		prompts := l.reply("2")
		for _, name := range want {
			if name := strings.Replace(name, "read", "greet", 1); !strings.Contains(prompts, `"name":"`+name+`"`) {
				t.Errorf("got the prompts %s, want %s", prompts, name)
			}
		}
	}
	call := func(name, want string) {
		t.Helper()
		if got := l.ask(3, name, "{}"); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if got := l.use(4, `{"toolbox_name":"tb","tool_name":"`+name+`"}`); !strings.Contains(got, want) {
			t.Errorf("use_tool: %s: got %s, want %s", name, got, want)
		}
	}
	look("read")
	call("read", "a's read was called")

	front.Reload(readConfig(t, of(b, a)))
	look("tb__b__read", "tb__a__read")
	call("tb__a__read", "a's read was called")
	call("tb__b__read", "b's read was called")
	call("read", "could be several tools: say which as")

	front.Reload(readConfig(t, of(b)))
	look("tb__b__read")
	call("read", `\"read\" was a tool of server \"a\" of toolbox \"tb\" earlier in this session, `+
		`and no other is called by that name; it is gone`)
	l.send(`{"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"greet"}}`)
	if got := l.reply("5"); !strings.Contains(got, `was a prompt of server \"a\"`) {
		t.Errorf("greet: got %s, want that it is gone", got)
	}

	front.Reload(readConfig(t, of(a)))
	look("read")
	call("read", "a's read was called")
	call("tb__a__read", "a's read was called")

	// A full name stays that of a server that is left out.
	c := named("c", `"tools=a/read,tb__a__read,a__read"`)
	front.Reload(readConfig(t, of(c)))
	synctest.Wait()
	if got := fmt.Sprint(l.tools(8)[4:]); got != "[tb__c__a_read_c2735f5d95 tb__c__tb__a__read tb__c__a__read]" {
		t.Errorf("got the tools %s, want those with a full name of a's under others", got)
	}
	for _, name := range []string{"a/read", "tb__a__read", "a__read"} {
		if got := l.use(9, `{"toolbox_name":"tb","tool_name":"`+name+`"}`); !strings.Contains(got, `"isError":true`) {
			t.Errorf("%s: got %s, want an error, since it was a's", name, got)
		}
	}
	if got := l.ask(10, "tb__a__read", "{}"); !strings.Contains(got, "tool not found") {
		t.Errorf("tb__a__read: got %s, want that it is not found", got)
	}

	// The name becomes one that workbench derives for another: it is neither's then.
	fs := `"fs": {"mcpServers": {` + named("x", `"tools=y"`) + `}}`
	z := `"tb": {"open": true, "prefix": "none", "mcpServers": {` +
		named("z", `"tools=fs__x__y", "prompts=fs__x__y"`) + `}}`
	front.Reload(readConfig(t, `{"toolboxes": {`+z+`}}`))
	look("fs__x__y")
	front.Reload(readConfig(t, `{"toolboxes": {`+z+`,`+strings.Replace(fs, `{"mcp`, `{"open": true, "mcp`, 1)+`}}`))
	synctest.Wait()
	names := l.tools(6)[4:]
	if len(names) != 2 || names[0] != "tb__z__fs__x__y" || names[1] == "fs__x__y" {
		t.Fatalf("got the tools %s, want those of z and x under names that are new", names)
	}
	for name, want := range map[string]string{
		"fs__x__y": `it is \"tb__z__fs__x__y\" now`, names[0]: "z's fs__x__y was called", names[1]: "x's y was called",
	} {
		if got := l.ask(7, name, "{}"); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	l.close()
}

// Reads lead to the server that lists the uri, or that alone lists something of its scheme and authority, or nowhere.
func TestFaultG4_ResourcesOfAnother(t *testing.T) {
	fs := named("fs", `"resources=file:///a,memo://x/1", "templates=file:///{+path}"`)
	z := named("z", `"resources=memo://x/1,file:///z,workbench://tb/fs/file:///a,Workbench://tb/fs/b",`+
		` "templates=file:///{+path},https://{host}/x,git:{rest},workbench://tb/fs/{+path}"`)
	web := named("web", `"resources=https://one.example/1,data:x", "templates=https://two.example/{x}"`)
	for _, servers := range [][]string{{fs, z, web}, {z, web, fs}} {
		text := `{"toolboxes": {"tb": {"open": true, "mcpServers": {` + strings.Join(servers, ",") + `}}}}`
		l := connect(t, newFront(t, readConfig(t, text), ""))
		l.initialize("2025-11-25", "{}")
		l.tools(1)
		for uri, want := range map[string]string{
			"file:///a":                         `"by":"fs"`,
			"file:///z":                         `"by":"z"`,
			"file:///secret":                    "workbench://tb/fs/",
			"FILE:///secret":                    "workbench://tb/fs/",
			"memo://x/1":                        "workbench://tb/fs/",
			"workbench://tb/fs/file:///a":       `"uri":"file:///a"},"by":"fs"`,
			"workbench://tb/fs/file:///new":     `"uri":"file:///new"},"by":"fs"`,
			"workbench://tb/z/file:///a":        `"uri":"file:///a"},"by":"z"`,
			"workbench://tb/z/workbench://tb/b": `"uri":"workbench://tb/b"},"by":"z"`,
			"workbench://tb/y/file:///a":        "no open toolbox",
			"Workbench://tb/fs/b":               "no open toolbox",
			"https://one.example/1":             `"by":"web"`,
			"https://one.example/2":             "workbench://tb/web/",
			"https://two.example/2":             "workbench://tb/web/",
			"https://bank.example/2":            `"by":"z"`, // it alone has a template of any host
			"git:x":                             `"by":"z"`,
			"data:y":                            `"by":"web"`,
			"nobody:x":                          "workbench://tb/fs/",
			"nothing":                           "workbench://tb/fs/",
		} {
			l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":%q}}`, uri))
			got := l.reply("2")
			if !strings.Contains(got, want) || strings.HasPrefix(want, "workbench") && !strings.Contains(got, `"error"`) {
				t.Errorf("%s: got %s, want %s", uri, got, want)
			}
		}
		l.send(`{"jsonrpc":"2.0","id":3,"method":"resources/templates/list"}`)
		got := l.reply("3")
		if strings.Contains(got, `:"file:///{+path}"`) || !strings.Contains(got, `"workbench://tb/fs/file:///{+path}"`) {
			t.Errorf("got the templates %s, want those that two servers have under addresses of ours", got)
		}
		l.close()
	}
}

// A uri that led to a server never comes to lead to another.
func TestResourcesKeepTheirMeaning(t *testing.T) { synctest.Test(t, resourcesKeepTheirMeaning) }

func resourcesKeepTheirMeaning(t *testing.T) {
	a := named("a", `"resources=file:///a"`)
	b := named("b", `"resources=file:///a,file:///b,web:b", "templates=web:{x}"`)
	of := func(servers ...string) string {
		return `{"toolboxes": {"tb": {"open": true, "mcpServers": {` + strings.Join(servers, ",") + `}}}}`
	}
	front := newFront(t, readConfig(t, of(a)), "")
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	read := func(uri, want string) {
		t.Helper()
		synctest.Wait()
		l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q}}`, uri))
		if got := l.reply("1"); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", uri, got, want)
		}
	}
	l.tools(2)
	read("file:///a", `"by":"a"`)
	read("file:///dir", `"by":"a"`)
	read("web:b", `"by":"a"`) // the only one there is
	front.Reload(readConfig(t, of(b)))
	for _, uri := range []string{"file:///a", "file:///dir", "file:///b", "web:b"} {
		read(uri, "put workbench://tb/b/ in front")
	}
	read("workbench://tb/b/file:///a", `"by":"b"`)
	l.send(`{"jsonrpc":"2.0","id":3,"method":"resources/list"}`)
	for _, uri := range []string{"file:///a", "file:///b", "web:b"} {
		if got := l.reply("3"); !strings.Contains(got, `"uri":"workbench://tb/b/`+uri+`"`) {
			t.Errorf("got the resources %s, want %s under an address of ours", got, uri)
		}
		l.send(`{"jsonrpc":"2.0","id":3,"method":"resources/list"}`)
	}
	l.reply("3")
	front.Reload(readConfig(t, of(a)))
	read("file:///a", `"by":"a"`)

	// News come under the uri that was subscribed to, also when it leads nowhere by itself any more.
	a = named("a", `"tools=heard,update", "resources=file:///a"`)
	front.Reload(readConfig(t, of(a)))
	act := func(method, uri string) {
		l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":4,"method":%q,"params":{"uri":%q}}`, method, uri))
		l.reply("4")
	}
	act("resources/subscribe", "file:///a")
	front.Reload(readConfig(t, of(a, b)))
	read("file:///a", "put workbench://tb/a/ or workbench://tb/b/ in front")
	l.ask(5, "tb__a__update", `{"text":"file:///a"}`)
	if got := l.method("notifications/resources/updated"); !strings.Contains(got, `"uri":"file:///a"`) {
		t.Errorf("got %s, want news of the uri that was subscribed to", got)
	}
	// A server cannot speak of another's resource, whatever it lists.
	b = named("b", `"tools=update", "resources=workbench://tb/a/file:///a"`)
	front.Reload(readConfig(t, of(a, b)))
	act("resources/subscribe", "workbench://tb/a/file:///a")
	l.ask(7, "tb__b__update", `{"text":"workbench://tb/a/file:///a"}`)
	if got := l.method("notifications/resources/updated"); !strings.Contains(got, `"uri":"workbench://tb/b/workbench://tb/a/file:///a"`) {
		t.Errorf("got %s, want news that say whose they are", got)
	}
	act("resources/unsubscribe", "workbench://tb/a/file:///a")
	if got := l.ask(6, "tb__a__heard", "{}"); !strings.Contains(got, "resources/unsubscribe") {
		t.Errorf("the server heard %s, want that nobody wants news any more", got)
	}
	l.close()
}
