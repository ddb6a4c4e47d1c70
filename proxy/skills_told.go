package proxy

import (
	"fmt"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A client that does not know the extension skills never asks for the list of them. It is told of them by the open that
// starts their servers, and reads them as resources.

const (
	// skillShare is the part of what an open may tell that skills may take: one of so many.
	skillShare = 8
	// maxSkillURI is how long the uri of a skill may be that is told.
	maxSkillURI = 200
)

// skillResult is what an open tells of a skill.
type skillResult struct {
	Name        string `json:"name"`
	Server      string `json:"server"`
	URI         string `json:"uri"`
	Description string `json:"description,omitempty"`
}

func (k skillResult) String() string {
	line := fmt.Sprintf("%s (%s), %s", k.Name, k.Server, k.URI)
	if k.Description != "" {
		line += ": " + k.Description
	}
	return line
}

// skillLines gives the skills of a toolbox, as its servers listed them last, for a client that does not know the
// extension.
func skillLines(sh *shelf.Shelf, b *shelf.Box, to *terms) (told []skillResult) {
	if to.has(eras.Skills) {
		return nil
	}
	mine := false
	servers := skillServers(sh)
	lists := make([][]skill, len(servers))
	for i, srv := range servers {
		lists[i] = skillsIn(srv.Items(toolbox.Skills))
		mine = mine || srv.Toolbox == b.Name && len(lists[i]) > 0
	}
	if !mine {
		return nil
	}
	places := noteSkills(sh, servers, lists)
	for _, srv := range servers {
		if srv.Toolbox != b.Name {
			continue
		}
		for _, it := range srv.Items(toolbox.Skills) {
			uri := places.Shown(srv, it.Key.Verbatim())
			name, description := toolbox.AboutSkill(&it)
			one := skillResult{foreign.NewName(name).String(), srv.Name, foreign.NewText(uri).String(), cut.At(foreign.NewText(description).String(), maxSummary)}
			if len(uri) <= maxSkillURI && one.URI == uri { // by what is shown of another it could not be read
				told = append(told, one)
			}
		}
	}
	return told
}

// tellSkills puts as many skills into the result as there is room for, in bytes.
func (r *result) tellSkills(skills []skillResult, room int) {
	for i, k := range skills {
		if room -= len(k.String()) + len("- \n"); room < 0 {
			r.SkillsMore = len(skills) - i
			break
		}
		r.Skills = append(r.Skills, k)
	}
}
