package definition

import (
	"maps"
	"slices"
	"strings"
)

// A Catalogue is what a [Store] has found at one moment. It does not change, and any number of goroutines may read it.
type Catalogue struct {
	// Entries are the workflows in effect, in the order of their ids.
	Entries []*Entry
	// Invalid are the files that are no workflows, in the order of the sources and then of the names.
	Invalid []Invalid
	// Sources are all sources, from the weakest to the strongest.
	Sources []SourceState

	byID map[string]*Entry
}

// An Entry is a workflow in effect.
type Entry struct {
	*Workflow
	Place
	// Shadows are the places of the workflows with the same id that this one replaces, the strongest first.
	Shadows []Place
}

// Displaced returns what a workflow of the project stands in the place of: one that is part of the program, or the
// user's own. Whoever follows it by its id may mean that one. ok is false where nothing such is the case.
func (e *Entry) Displaced() (p Place, ok bool) {
	if !e.Origin.IsForeign() {
		return Place{}, false
	}
	for _, p := range e.Shadows {
		if !p.Origin.IsForeign() {
			return p, true
		}
	}
	return Place{}, false
}

// A Place is a file in a source.
type Place struct {
	Origin Origin `json:"origin"`
	// File is a path, for embedded workflows a bare name.
	File string `json:"file"`
}

// Invalid is a file that is no workflow, with the reasons.
type Invalid struct {
	Place
	// ID is the id that stands in the file or, where the file could not be read, its name without the extension.
	ID     string  `json:"id,omitempty"`
	Cause  Cause   `json:"cause"`
	Faults []Fault `json:"faults"`
}

// Cause is the kind of reason why a file is no workflow.
type Cause string

// The causes.
const (
	Malformed  Cause = "malformed"  // its content is at fault
	Unreadable Cause = "unreadable" // it could not be read
	Outside    Cause = "outside"    // it is a link that leads out of its directory
)

// A SourceState says what became of a source.
type SourceState struct {
	Source
	// Present is false for a directory that does not exist.
	Present bool
	// Err says why the directory could not be read, "" if it could.
	Err string
	// Workflows and Invalid count the files.
	Workflows, Invalid int
}

// Entry returns the workflow in effect with the given id, or nil.
func (c *Catalogue) Entry(id string) *Entry { return c.byID[id] }

// Routines are those of the workflows in effect.
func (c *Catalogue) Routines() Routines {
	routines := Routines{}
	for _, e := range c.Entries {
		routines.Add(e.Workflow, e.File)
	}
	return routines
}

// IDs returns the ids of all workflows in effect, in order.
func (c *Catalogue) IDs() []string {
	ids := make([]string, len(c.Entries))
	for i, e := range c.Entries {
		ids[i] = e.ID
	}
	return ids
}

// A finding is what one file has become: a workflow or faults.
type finding struct {
	place    Place
	workflow *Workflow
	id       string // of an invalid file
	cause    Cause
	faults   []Fault
}

// newCatalogue layers the findings of the sources, which come from the weakest to the strongest. Within one source the
// first file with an id counts, and the others are listed as invalid.
func newCatalogue(sources []SourceState, found [][]finding) *Catalogue {
	c := &Catalogue{Sources: sources, byID: map[string]*Entry{}}
	for i, list := range found {
		own := map[string]Place{}
		for _, f := range list {
			if f.workflow != nil {
				if first, ok := own[f.workflow.ID]; ok {
					f.id, f.cause = f.workflow.ID, Malformed
					f.faults = []Fault{{Path: "/id", Message: "the id " + f.workflow.ID + " is taken by " + first.File}}
				}
			}
			if len(f.faults) > 0 {
				c.Invalid = append(c.Invalid, Invalid{f.place, f.id, f.cause, f.faults})
				sources[i].Invalid++
				continue
			}
			sources[i].Workflows++
			own[f.workflow.ID] = f.place
			entry := &Entry{Workflow: f.workflow, Place: f.place}
			if below := c.byID[f.workflow.ID]; below != nil {
				entry.Shadows = append([]Place{below.Place}, below.Shadows...)
			}
			c.byID[f.workflow.ID] = entry
		}
	}
	c.Entries = slices.SortedFunc(maps.Values(c.byID), func(a, b *Entry) int { return strings.Compare(a.ID, b.ID) })
	return c
}
