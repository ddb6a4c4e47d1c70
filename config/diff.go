package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/lock"
)

// Changes says how one configuration differs from another, so that no more is touched than has changed.
type Changes struct {
	Settings  []string // the keys of the top level that differ: toolMode, openTimeout, openBudget, maxMessage, envFile, store, models, http, record, secrets, pin
	Added     []string // toolboxes, in the order of the new configuration
	Removed   []string // toolboxes, in the order of the old one
	Reordered bool     // the toolboxes that are in both stand in another order
	Toolboxes []ToolboxChange
}

// ToolboxChange says how a toolbox that is in both configurations differs.
type ToolboxChange struct {
	Name      string
	Settings  []string // the keys of the toolbox that differ: description, open, prefix, pins
	Added     []string // servers, in the order of the new configuration
	Removed   []string // servers, in the order of the old one
	Restarted []string // servers that are started or reached in another way
	Adjusted  []string // servers that go on as they are and are offered or bounded in another way
	Reordered bool     // the servers that are in both stand in another order
}

// None reports whether nothing differs.
func (c *Changes) None() bool {
	return len(c.Settings) == 0 && len(c.Added) == 0 && len(c.Removed) == 0 && !c.Reordered && len(c.Toolboxes) == 0
}

// String says in a line what differs, for a log. It holds names alone, no values.
func (c *Changes) String() string {
	var parts []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, what+" "+strings.Join(names, ", "))
		}
	}
	add("settings", c.Settings)
	add("toolboxes added", c.Added)
	add("toolboxes removed", c.Removed)
	if c.Reordered {
		parts = append(parts, "toolboxes reordered")
	}
	for _, t := range c.Toolboxes {
		where := "toolbox " + t.Name + ": "
		add(where+"settings", t.Settings)
		add(where+"servers added", t.Added)
		add(where+"servers removed", t.Removed)
		add(where+"servers restarted", t.Restarted)
		add(where+"servers adjusted", t.Adjusted)
		if t.Reordered {
			parts = append(parts, where+"servers reordered")
		}
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// Diff says what has to change for a program that works by old to work by now. Paths are not compared: it is of no
// account which file a configuration came from.
func Diff(old, now *Config) *Changes {
	c := &Changes{Settings: settings(old, now)}
	c.Added, c.Removed, c.Reordered = compareNames(old.ToolboxNames(), now.ToolboxNames())
	for i := range now.Toolboxes {
		t := &now.Toolboxes[i]
		if before, ok := old.Toolbox(t.Name); ok {
			if d := diffToolbox(before, t); d != nil {
				c.Toolboxes = append(c.Toolboxes, *d)
			}
		}
	}
	return c
}

func diffToolbox(old, now *Toolbox) *ToolboxChange {
	d := ToolboxChange{Name: now.Name, Settings: settings(old, now)}
	d.Added, d.Removed, d.Reordered = compareNames(old.ServerNames(), now.ServerNames())
	for i := range now.Servers {
		s := &now.Servers[i]
		before, ok := old.Server(s.Name)
		switch {
		case !ok:
		case !before.StartsLike(s) || before.Shared != s.Shared:
			d.Restarted = append(d.Restarted, s.Name)
		case !before.Pins.Same(s.Pins) || fmt.Sprint(before.Problem) != fmt.Sprint(s.Problem) || adjusted(before, s):
			d.Adjusted = append(d.Adjusted, s.Name)
		}
	}
	if reflect.DeepEqual(d, ToolboxChange{Name: now.Name}) {
		return nil
	}
	return &d
}

// StartedAs is what decides how the server is started and reached: all of it but what holds for a server that runs,
// which its rows say, and Shared, which says whose the server is.
func (s *Server) StartedAs() Server {
	_, start := s.split()
	start.AnyHTTP = false // one that was reached is reached in the same way
	start.Shared, start.Pins, start.Written = false, lock.Pins{}, nil
	return start
}

// StartsLike reports whether s and other are started and reached in the same way, so that a server that runs as the one
// need not be ended to be the other: by what their StartedAs is. Two servers that cannot be used for what their
// variables lack are alike in that.
func (s *Server) StartsLike(other *Server) bool {
	a, b := s.StartedAs(), other.StartedAs()
	if a.Problem != nil && b.Problem != nil {
		a.Problem, b.Problem = nil, nil // they name lines, which move
	}
	return reflect.DeepEqual(a, b)
}

// adjusted reports whether what holds for a server that runs differs.
func adjusted(old, now *Server) bool {
	a, _ := old.split()
	b, _ := now.split()
	return !reflect.DeepEqual(a, b)
}

// settings returns the keys of plain settings that differ between two values of one type, in the order of their fields.
func settings[T any](old, now *T) []string {
	var keys []string
	a, b := reflect.ValueOf(old).Elem(), reflect.ValueOf(now).Elem()
	for i := range a.NumField() {
		key := a.Type().Field(i).Tag.Get("key")
		if key == "" || key == "toolboxes" || key == "mcpServers" {
			continue
		}
		if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			keys = append(keys, key)
		}
	}
	return keys
}

// compareNames says which names came and went, and whether those that stayed changed places.
func compareNames(old, now []string) (added, removed []string, reordered bool) {
	added, stayedNow := divide(now, old)
	removed, stayedOld := divide(old, now)
	return added, removed, !slices.Equal(stayedOld, stayedNow)
}

// divide returns the names that are not among the others, and those that are.
func divide(names, others []string) (alone, shared []string) {
	known := make(map[string]bool, len(others))
	for _, name := range others {
		known[name] = true
	}
	for _, name := range names {
		if known[name] {
			shared = append(shared, name)
		} else {
			alone = append(alone, name)
		}
	}
	return alone, shared
}

// split gives what holds for a server that runs, and all else.
func (s *Server) split() (live, rest Server) {
	rest = *s
	to, from := reflect.ValueOf(&live).Elem(), reflect.ValueOf(&rest).Elem()
	for field := range from.Type().Fields() {
		if field.Tag.Get("live") == "yes" {
			to.FieldByIndex(field.Index).Set(from.FieldByIndex(field.Index))
			from.FieldByIndex(field.Index).SetZero()
		}
	}
	return live, rest
}
