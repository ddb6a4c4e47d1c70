// Package published reads what publishers say of their MCP servers, and makes of it how workbench starts or reaches
// them:
//
//	registry ── server.json ──▶ Detail ── Way by Way ──▶ clients.Server
//	.mcpb    ── manifest.json ─▶ Bundle ───────────────▶ clients.Server
//
// A server.json is that of the official registry (schema 2025-12-11), a bundle that of the MCPB manifest (0.1 to 0.4).
// What is read is text of strangers: a program is started only after a person has seen its command.
package published

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Values are what a person gave for the inputs that a publisher asks for, by their names.
type Values map[string]string

// InputError says which inputs have to be given, or cannot be.
type InputError struct{ text string }

func (e *InputError) Error() string { return e.text }

// settings are the values that were given, and what was found to be missing and used.
type settings struct {
	given   Values
	used    map[string]bool
	missing []string
	known   map[string]bool
	notes   []string
}

func newSettings(given Values) *settings {
	return &settings{given: given, used: map[string]bool{}, known: map[string]bool{}}
}

// want notes that an input has to be given.
func (s *settings) want(name, description string) {
	text := foreign.NewName(name).String()
	if description != "" {
		text += " (" + foreign.NewText(description).String() + ")"
	}
	if !slices.Contains(s.missing, text) {
		s.missing = append(s.missing, text)
	}
}

// err says what is missing, or was given and is not known.
func (s *settings) err() error {
	for _, name := range slices.Sorted(maps.Keys(s.given)) {
		if !s.known[name] {
			all := "it has no inputs"
			if len(s.known) > 0 {
				all = "its inputs are " + strings.Join(slices.Sorted(maps.Keys(s.known)), ", ")
			}
			return &InputError{fmt.Sprintf("it has no input %q: %s", foreign.NewName(name), foreign.NewText(all))}
		}
	}
	if len(s.missing) > 0 {
		return &InputError{"it wants " + strings.Join(s.missing, ", ")}
	}
	return nil
}

var errName = errors.New("it has no name that can be used")

// unfit are the characters of a name that its entry cannot have.
var unfit = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// short is the last part of a published name, as the name of an entry.
func short(name string) (string, error) {
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.Trim(unfit.ReplaceAllString(name, "-"), "-.")
	if name == "" || len(name) > 64 {
		return "", errName
	}
	return name, nil
}

// mark stands for the beginning of a variable, ${, until a text is whole. What a publisher says has no zero bytes.
const mark = "\x00{"

// ours is a text of the person who adds a server, or of workbench, whose variables are meant.
func ours(text string) string { return strings.ReplaceAll(text, "${", mark) }

// theirs is a text of the publisher.
func theirs(text string) string { return strings.ReplaceAll(text, "\x00", "") }

// written writes a whole text so that workbench's configuration takes it as it is, but for variables that are ours. Its
// pieces make no variable, whatever they are.
func written(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "${", "$${"), mark, "${")
}
