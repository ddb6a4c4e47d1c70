package workflowsrv

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// runPrefix begins the uris of runs.
const runPrefix = "workbench://runs/"

// maxListed is how many runs are listed, the latest first; the others are read by their ids.
const maxListed = 100

const runType = "application/json"

// A resource is a run, or the file of a skill, in a list.
type resource struct {
	URI         string            `json:"uri"`
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description,omitempty"`
	MIMEType    string            `json:"mimeType"`
	Size        int               `json:"size,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// listResources lists the runs of a principal, and the skills for clients that do not ask for these.
func (o *offers) listResources(ctx context.Context, p principal.Principal) ([]byte, error) {
	var found []runs.Found
	if p.Name != "" { // The list of nobody would be that of everybody.
		var err error
		if found, err = o.runs.List(ctx, p.Name, maxListed); err != nil {
			return nil, err
		}
	}
	list := []resource{}
	for _, f := range found {
		title := f.Head.Name + ", " + string(f.Head.Status)
		if f.Head.Step != "" && !f.Head.Status.Over() {
			title += " at " + f.Head.Step
		}
		list = append(list, resource{runPrefix + f.ID, f.ID, title, f.Head.Goal, runType, 0,
			map[string]string{"lastModified": f.Updated.UTC().Format("2006-01-02T15:04:05Z")}})
	}
	for _, e := range o.audience.forList().Entries {
		if k, text, ok := skillOf(e); ok {
			list = append(list, resource{k.URI, k.Frontmatter.Name, e.Name, k.Frontmatter.Description, skillType, len(text), nil})
		}
	}
	return json.Marshal(map[string]any{"resources": list})
}

func listTemplates(context.Context, []byte) ([]byte, error) {
	return []byte(`{"resourceTemplates":[{"uriTemplate":"` + runPrefix + `{run}","name":"run","title":"A run of a workflow",` +
		`"description":"What a run is for, where it is, and everything that happened in it","mimeType":"` + runType + `"}]}`), nil
}

// readResource reads the file of a skill, or a run of a principal. One of somebody else is not there.
func (o *offers) readResource(ctx context.Context, p principal.Principal, params []byte) ([]byte, error) {
	uri, err := readURI(params)
	if err != nil {
		return nil, err
	}
	if _, text, ok := o.skill(uri); ok {
		return contents(uri, skillType, text)
	}
	id, ok := strings.CutPrefix(uri, runPrefix)
	var r *runs.Run
	err = store.ErrNotFound
	if ok {
		r, err = o.runs.Read(ctx, p.Name, id)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, noResource(uri)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(o.runs.Shown(p.Name, r))
	if err != nil {
		return nil, err
	}
	return contents(uri, runType, string(text))
}
