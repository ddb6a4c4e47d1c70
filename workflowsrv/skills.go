package workflowsrv

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// A workflow is also a skill, whose one file says what the workflow is for and how it is followed.

const (
	skillPrefix = "skill://workflow/"
	skillSuffix = "/SKILL.md"
	skillType   = "text/markdown"
	// maxSkillDescription is the most characters of a skill's description.
	maxSkillDescription = 1024
)

// skillName is what the name of a skill looks like. A workflow whose id has another form is no skill.
var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const maxSkillName = 64

type skill struct {
	URI         string          `json:"uri"`
	Frontmatter skillHead       `json:"frontmatter"`
	Resources   []skillResource `json:"resources"`
}

type skillHead struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type skillResource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int    `json:"size"`
}

// skillOf is the entry of a workflow, with the text of its file; ok is false of one that is no skill.
func skillOf(e *definition.Entry) (k skill, text string, ok bool) {
	if !skillName.MatchString(e.ID) || len(e.ID) > maxSkillName {
		return k, "", false
	}
	head := skillHead{e.ID, cut.Within(strings.Join(strings.Fields(e.Description), " "), maxSkillDescription)}
	text = skillText(e.Workflow, head)
	uri := skillPrefix + e.ID + skillSuffix
	return skill{uri, head, []skillResource{{uri, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))), len(text)}}}, text, true
}

// skillText is the file of a skill.
func skillText(w *definition.Workflow, head skillHead) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nname: %s\ndescription: %s\n---\n\n# %s\n\n", head.Name, wire.AppendQuote(nil, head.Description), w.Name)
	if w.About != "" {
		b.WriteString(w.About + "\n\n")
	}
	fmt.Fprintf(&b, "This is a workflow that workbench leads you through, one step at a time. Call `workflow_start` with `{\"workflowId\": %q, \"goal\": …}`, "+
		"where goal is what the user wants, in a sentence. Do what the answer says, then call `workflow_next` with the run and the result of the step, "+
		"and so on until the answer says that the workflow is complete.\n", w.ID)
	for _, part := range []struct {
		title string
		lines []string
	}{{"Before you begin", w.Preconditions}, {"Steps", stepTitles(w)}} {
		if len(part.lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", part.title)
		for _, line := range part.lines {
			fmt.Fprintf(&b, "- %s\n", strings.Join(strings.Fields(line), " "))
		}
	}
	return b.String()
}

func stepTitles(w *definition.Workflow) (titles []string) {
	for _, s := range w.Steps {
		titles = append(titles, s.Title)
	}
	return titles
}

func (o *offers) listSkills(context.Context, []byte) ([]byte, error) {
	list := []skill{}
	for _, e := range o.catalogue().Entries {
		if k, _, ok := skillOf(e); ok {
			list = append(list, k)
		}
	}
	return json.Marshal(map[string]any{"skills": list})
}

func (o *offers) getSkill(_ context.Context, params []byte) ([]byte, error) {
	uri, err := readURI(params)
	if err != nil {
		return nil, err
	}
	k, _, ok := o.skill(uri)
	if !ok {
		return nil, noResource(uri)
	}
	return json.Marshal(map[string]any{"skill": k})
}

// skill finds a skill by the uri of its file.
func (o *offers) skill(uri string) (k skill, text string, ok bool) {
	id, ok := strings.CutPrefix(uri, skillPrefix)
	if !ok {
		return k, "", false
	}
	if id, ok = strings.CutSuffix(id, skillSuffix); !ok {
		return k, "", false
	}
	e, f := o.entry(id)
	if f != nil {
		return k, "", false
	}
	return skillOf(e)
}

// readURI reads the uri that a request names.
func readURI(params []byte) (string, error) {
	var ask struct {
		URI string `json:"uri"`
	}
	if len(params) == 0 || json.Unmarshal(params, &ask) != nil || ask.URI == "" {
		return "", badParams("uri must be a string")
	}
	return ask.URI, nil
}

// noResource refuses a uri that leads to nothing.
func noResource(uri string) error {
	data := wire.NewObject(nil).Text("uri", uri).End()
	return &wire.Error{Code: eras.NoResource, Message: fmt.Sprintf("Resource not found: %.100q", uri), Data: data}
}

// contents is the answer to a request for a resource that is a text.
func contents(uri, mimeType, text string) ([]byte, error) {
	return json.Marshal(map[string]any{"contents": []any{map[string]string{"uri": uri, "mimeType": mimeType, "text": text}}})
}

// offers are what clients read beside the answers of tools: prompts, skills and runs.
type offers struct {
	*shelf
	audience *audience
	runs     *runs.Engine
}
