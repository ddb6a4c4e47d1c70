package proxy_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// The skills of all servers are listed, those of the same uri told apart as a whole, and each is read from its server.
func TestFaultA2_SkillsOfTheSameURI(t *testing.T) {
	const toolboxes = `{"toolboxes":{"dev":{"open":true,"mcpServers":{
		"one":{"command":"inside","args":["name=one","skills=git,mine","page=1","resources=x:1"]},
		"two":{"command":"inside","args":["name=two","modern","skills=git","resources=x:2"]},
		"none":{"command":"inside","args":["name=none","resources=skill://git/SKILL.md"]},
		"mute":{"command":"inside","args":["name=mute","skills=mute","lack=skills/list"]}}}}}`
	k := newTasker(t, toolboxes)
	entry := func(uri, name, by string) string {
		root := strings.TrimSuffix(uri, "/SKILL.md")
		return `{ "uri":"` + uri + `","frontmatter":{"name":"` + name + `","description":"of ` + by + `"},"resources":[` +
			`{"uri":"` + uri + `","digest":"sha256:` + by + `","size":1.0},{"uri":"` + root + `/refs/a.md","digest":"x","size":2}],"x":1e400}`
	}
	reply := k.ask("skills/list", `"x":1`)
	var list struct {
		Result struct{ Skills []struct{ URI string } }
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(reply, "1e400", "1")), &list); err != nil || len(list.Result.Skills) != 3 {
		t.Fatalf("got %s (%v), want three skills", reply, err)
	}
	one, mine, two := list.Result.Skills[0].URI, list.Result.Skills[1].URI, list.Result.Skills[2].URI
	k.wants(reply, `"result":{"skills":[`+entry(one, "git", "one")+","+entry("skill://mine/SKILL.md", "mine", "one")+","+entry(two, "git", "two")+"]}")
	if one == two || !strings.HasPrefix(one, "skill://wb-") || !strings.HasSuffix(two, "/git/SKILL.md") || mine != "skill://mine/SKILL.md" {
		t.Errorf("got uris %q, %q and %q, want the equal ones told apart", one, mine, two)
	}
	for uri, by := range map[string]string{one: "one", two: "two", mine: "one"} {
		own := mine
		if uri != mine {
			own = "skill://git/SKILL.md"
		}
		k.wants(k.ask("skills/get", `"uri":"`+uri+`"`), `"by":"`+by+`"`, `"uri":"`+uri+`"`, `"digest":"sha256:`+by+`"`)
		k.wants(k.ask("resources/read", `"uri":"`+uri+`"`), `"by":"`+by+`"`, `"uri":"`+own+`"`)
		folder := strings.TrimSuffix(uri, "SKILL.md") + "refs"
		k.wants(k.ask("resources/directory/read", `"uri":"`+folder+`"`), `"by":"`+by+`"`, `{"resources":[{"uri":"`+folder+`/a.md"}]`)
		k.wants(k.ask("resources/read", `"uri":"`+folder+`/a.md"`), `"by":"`+by+`"`)
	}
	for _, uri := range []string{"skill://git/SKILL.md", "skill://wb-0123456789abcdef/git/SKILL.md", "skill://nowhere/SKILL.md"} {
		k.wants(k.ask("skills/get", `"uri":"`+uri+`"`), `"code":-32602`)
	}
	k.wants(k.ask("skills/get", `"uri":3`), `"code":-32602`)
}

// A client that knows a skill from before need not list it, and a modern client is told how long the list holds.
func TestSkillsUnlisted(t *testing.T) {
	k := newTasker(t, `{"toolboxes":{"dev":{"open":true,"mcpServers":{
		"one":{"command":"inside","args":["name=one","skills=a"]},"two":{"command":"inside","args":["name=two","skills=b"]}}}}}`)
	k.wants(k.ask("skills/get", `"uri":"skill://b/SKILL.md"`), `"by":"two"`)
	k.meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	k.wants(k.ask("skills/list", `"x":1`), `{"resultType":"complete","ttlMs":0,"cacheScope":"private","skills":[{ "uri":"skill://a/SKILL.md"`)
	k.wants(k.ask("skills/get", `"uri":"skill://a/SKILL.md"`), `"by":"one"`, `"ttlMs":0`, `"cacheScope":"private"`)
	none := newTasker(t, `{"toolboxes":{"dev":{"open":true,"mcpServers":{"one":{"command":"inside"}}}}}`)
	none.wants(none.ask("skills/list", `"x":1`), `"result":{"skills":[]}`)
	none.wants(none.ask("skills/get", `"uri":"skill://a/SKILL.md"`), `"code":-32602`, "no open toolbox has a server with skills")
}

// Skills are found, in open toolboxes and by what was seen before in those that are not, under uris by which they are
// read.
func TestSkillsAreFound(t *testing.T) {
	t.Parallel()
	const toolboxes = `{"toolboxes":{"dev":{"mcpServers":{
		"one":{"command":"inside","args":["name=one","tools=echo","skills=git,knitting"]},
		"two":{"command":"inside","args":["name=two","modern","tools=echo","skills=git"]}}}}}`
	front := newFrontWith(t, readConfig(t, toolboxes), proxy.Options{Toolbox: toolbox.Options{
		Catalogue: catalogue.New(filepath.Join(t.TempDir(), "catalogue"), zerolog.Nop()),
	}})
	line := regexp.MustCompile(`([a-z]+) \(skill\) (skill://[^ ]+) – of ([a-z]+)`)
	for _, opened := range []bool{true, false} {
		k := &tasker{line: connect(t, front)}
		k.initialize("2025-11-25", "{}")
		open := func() { k.ask("tools/call", `"name":"workbench_open_toolbox","arguments":{"toolbox_name":"dev"}`) }
		if opened {
			open()
		}
		reply := k.ask("tools/call", `"name":"workbench_find_tools","arguments":{"query":"git knitting"}`)
		text, _, _ := strings.Cut(reply, `"structuredContent"`)
		found := line.FindAllStringSubmatch(text, -1)
		if len(found) != 3 || !strings.Contains(reply, "A skill is read by its uri") || strings.Contains(reply, "(stopped)") == opened {
			t.Errorf("open %t: got %s, want three skills and how they are read", opened, reply)
		}
		if !opened {
			open()
		}
		for _, f := range found {
			k.wants(k.ask("resources/read", `"uri":"`+f[2]+`"`), `"by":"`+f[3]+`"`, `skill://`+f[1]+`/SKILL.md`)
		}
		k.close()
	}
	if err := front.Close(); err != nil {
		t.Error(err)
	}
}

// A client that does not know the extension is told of skills by the open, within its budget, and reads them as
// resources.
func TestSkillsInTheOpen(t *testing.T) {
	t.Parallel()
	many := make([]string, 500)
	for i := range many {
		many[i] = fmt.Sprintf("skill-%d", i)
	}
	k := newTasker(t, `{"openBudget":1000,"toolboxes":{
		"dev":{"mcpServers":{"one":{"command":"inside","args":["name=one","skills=git,\u202eliar,mine"]},"two":{"command":"inside","args":["name=two","skills=git","resources=x:2"]}}},
		"many":{"mcpServers":{"one":{"command":"inside","args":["skills=`+strings.Join(many, ",")+`","tools=x"]}}},
		"none":{"mcpServers":{"one":{"command":"inside"}}}}}`)
	open := func(toolbox, more string) (text string, skills []struct{ Name, Server, URI, Description string }) {
		t.Helper()
		var reply struct {
			Result struct {
				Content           []struct{ Text string }
				StructuredContent struct {
					Skills []struct{ Name, Server, URI, Description string }
				}
			}
		}
		raw := k.ask("tools/call", `"name":"workbench_open_toolbox","arguments":{"toolbox_name":"`+toolbox+`"`+more+`}`)
		if err := json.Unmarshal([]byte(raw), &reply); err != nil || len(reply.Result.Content) != 1 {
			t.Fatalf("got %s (%v)", raw, err)
		}
		return reply.Result.Content[0].Text, reply.Result.StructuredContent.Skills
	}
	text, skills := open("dev", "")
	if len(skills) != 3 || strings.Contains(text, "liar (one)") {
		t.Fatalf("got %+v in\n%s\nwant the three skills whose uris can be said", skills, text)
	}
	for i, want := range []string{"git one", "mine one", "git two"} {
		one := skills[i]
		if one.Name+" "+one.Server != want || one.Description != "of "+one.Server || !strings.Contains(text, "\n- "+one.Name+" ("+one.Server+"), "+one.URI+": of "+one.Server+"\n") {
			t.Errorf("got %+v in\n%s\nwant %s", one, text, want)
		}
		k.wants(k.ask("resources/read", `"uri":"`+one.URI+`"`), `"by":"`+one.Server+`"`)
	}
	if text, skills := open("dev", `,"tools":["*"]`); skills != nil || strings.Contains(text, "Skills, ") {
		t.Errorf("got %+v in\n%s\nof an open for some tools, want no skills", skills, text)
	}
	text, skills = open("many", "")
	if len(text) > 4000 || len(skills) < 5 || len(skills) > 40 || !strings.Contains(text, fmt.Sprintf("and %d more skills", 500-len(skills))) {
		t.Errorf("got %d skills in %d bytes\n%s", len(skills), len(text), text)
	}
	if text, _ := open("none", ""); strings.Contains(text, "Skills, ") {
		t.Errorf("got\n%s\nwhere no server has skills", text)
	}
	k.meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/skills":{}}}}`
	if text, skills := open("dev", ""); skills != nil || strings.Contains(text, "Skills, ") {
		t.Errorf("got %+v in\n%s\nfor a client with the extension, want no skills", skills, text)
	}
}
