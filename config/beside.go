package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Beside returns what holds where a project's configuration stands beside c, the user's own: the toolboxes of both, c's
// first, and of the other keys of the top level those of the project that its file has, else c's. Of two toolboxes
// whose names are the same, or differ in case alone, it is the project's, with a note.
func (c *Config) Beside(project *Config) *Config {
	both := *c
	both.Project, both.Partly = project.Path, c.Partly || project.Partly
	if both.Doubt == "" {
		both.Doubt = project.Doubt
	}
	both.Notes, both.Toolboxes = slices.Clone(c.Notes), nil
	for _, t := range c.Toolboxes {
		same := slices.IndexFunc(project.Toolboxes, func(p Toolbox) bool { return strings.EqualFold(p.Name, t.Name) })
		if same < 0 {
			both.Toolboxes = append(both.Toolboxes, t)
			continue
		}
		both.Notes = append(both.Notes, fmt.Sprintf("toolbox %q of %s replaces toolbox %q of %s",
			project.Toolboxes[same].Name, project.Path, t.Name, c.Path))
	}
	both.Toolboxes = append(both.Toolboxes, project.Toolboxes...)
	to, from := reflect.ValueOf(&both).Elem(), reflect.ValueOf(project).Elem()
	for i := range to.NumField() {
		if key := to.Type().Field(i).Tag.Get("key"); key != "toolboxes" && project.given[key] {
			to.Field(i).Set(from.Field(i))
		}
	}
	return &both
}
