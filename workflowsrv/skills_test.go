package workflowsrv_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// A workflow is a skill of one file, whose digest and size are those of what is read; one whose id is no name of a
// skill is none.
func TestSkills(t *testing.T) {
	dir := t.TempDir()
	hostile := strings.NewReplacer(`"sized"`, `"up_per"`, "Does it.", "Does\\n---\\nname: other").Replace(sized)
	for name, text := range map[string]string{"sized": sized, "up": hostile, "lines": strings.Replace(hostile, "up_per", "lines", 1)} {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := workflowsrv.New(workflowsrv.Options{Sources: definition.Layers{Dirs: []string{dir}}.Sources()})
	type skill struct {
		URI         string
		Frontmatter struct{ Name, Description string }
		Resources   []struct {
			URI, Digest string
			Size        int
		}
	}
	var list struct {
		Result struct {
			Skills     []skill
			Skill      skill
			Contents   []struct{ URI, MimeType, Text string }
			Resources  []struct{ URI string }
			ResultType string
		}
	}
	legacy, modern := greeted(t, server), connect(t, server)
	ask := func(c *peerClient, method, more string) {
		t.Helper()
		list.Result.Skills, list.Result.Contents = nil, nil
		if got := c.ask(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + more + `}}`); json.Unmarshal([]byte(got), &list) != nil {
			t.Fatalf("%s: got %s", method, got)
		}
	}
	ask(modern, "skills/list", modernMeta)
	skills := list.Result.Skills
	if len(skills) != 2 || list.Result.ResultType != "complete" {
		t.Fatalf("got %+v, want two skills", list.Result)
	}
	for _, k := range skills {
		uri := "skill://workflow/" + k.Frontmatter.Name + "/SKILL.md"
		if k.URI != uri || len(k.Resources) != 1 || k.Resources[0].URI != uri || strings.Contains(k.Frontmatter.Description, "\n") {
			t.Errorf("got %+v", k)
		}
		ask(legacy, "resources/read", `"uri":"`+uri+`"`)
		text := list.Result.Contents[0].Text
		if got := k.Resources[0]; got.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) || got.Size != len(text) {
			t.Errorf("got %+v of\n%s", got, text)
		}
		if !strings.HasPrefix(text, "---\nname: "+k.Frontmatter.Name+"\ndescription: \"") || strings.Count(text, "\n---\n") != 1 ||
			!strings.Contains(text, `{"workflowId": "`+k.Frontmatter.Name+`"`) || !strings.Contains(text, "- One\n- Two\n") {
			t.Errorf("got\n%s", text)
		}
		ask(legacy, "skills/get", `"uri":"`+uri+`"`)
		if fmt.Sprint(list.Result.Skill) != fmt.Sprint(k) {
			t.Errorf("got %+v, want %+v", list.Result.Skill, k)
		}
	}
	ask(legacy, "resources/list", "")
	if len(list.Result.Resources) != 2 {
		t.Errorf("got resources %+v, want the files of the skills", list.Result.Resources)
	}
	for _, uri := range []string{`"skill://workflow/up_per/SKILL.md"`, `"skill://workflow/none/SKILL.md"`, `"skill://workflow/sized"`, `"skill://workflow/../SKILL.md"`, `"skill://workflow/sized/x/SKILL.md"`, "7"} {
		if got := legacy.ask(`{"jsonrpc":"2.0","id":1,"method":"skills/get","params":{"uri":` + uri + `}}`); !strings.Contains(got, `"error"`) {
			t.Errorf("%s: got %s, want an error", uri, got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "long.json"), []byte(long), 0o644); err != nil {
		t.Fatal(err)
	}
	legacy.change(`"notifications/resources/list_changed"`)
}
