package workflowsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// runPrefix begins the uris of runs.
const runPrefix = "workbench://runs/"

// maxListed is how many runs are listed, the latest first; the others are read by their ids.
const maxListed = 100

const runType = "application/json"

// A resource is a run in a list.
type resource struct {
	URI         string              `json:"uri"`
	Name        string              `json:"name"`
	Title       string              `json:"title"`
	Description string              `json:"description,omitempty"`
	MIMEType    string              `json:"mimeType"`
	Annotations resourceAnnotations `json:"annotations"`
}

type resourceAnnotations struct {
	Modified string `json:"lastModified"`
}

// listRuns lists the runs of a principal.
func (s *Server) listRuns(ctx context.Context, p principal.Principal) ([]byte, error) {
	found, err := s.runs.List(ctx, p.Name, maxListed)
	if err != nil {
		return nil, err
	}
	list := []resource{}
	for _, f := range found {
		title := f.Head.Name + ", " + string(f.Head.Status)
		if f.Head.Step != "" && !f.Head.Status.Over() {
			title += " at " + f.Head.Step
		}
		list = append(list, resource{runPrefix + f.ID, f.ID, title, f.Head.Goal, runType, resourceAnnotations{f.Updated.UTC().Format("2006-01-02T15:04:05Z")}})
	}
	return json.Marshal(struct {
		Resources []resource `json:"resources"`
	}{list})
}

func listTemplates(context.Context, []byte) ([]byte, error) {
	return []byte(`{"resourceTemplates":[{"uriTemplate":"` + runPrefix + `{run}","name":"run","title":"A run of a workflow",` +
		`"description":"What a run is for, where it is, and all that happened in it","mimeType":"` + runType + `"}]}`), nil
}

// readRun reads a run of a principal. One of somebody else is not there.
func (s *Server) readRun(ctx context.Context, p principal.Principal, params []byte) ([]byte, error) {
	var ask struct {
		URI string `json:"uri"`
	}
	if len(params) == 0 || json.Unmarshal(params, &ask) != nil || ask.URI == "" {
		return nil, badParams("uri must be a string")
	}
	id, ok := strings.CutPrefix(ask.URI, runPrefix)
	var r *runs.Run
	err := store.ErrNotFound
	if ok {
		r, err = s.runs.Read(ctx, p.Name, id)
	}
	if errors.Is(err, store.ErrNotFound) {
		data := append(wire.AppendQuote([]byte(`{"uri":`), ask.URI), '}')
		return nil, &wire.Error{Code: eras.NoResource, Message: fmt.Sprintf("Resource not found: %.100q", ask.URI), Data: data}
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r.Shown(p.Name))
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"contents": []any{map[string]string{"uri": ask.URI, "mimeType": runType, "text": string(text)}}})
}
