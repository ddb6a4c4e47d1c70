package top

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/jsontype"
)

// form has a tool called with what is written into its fields, one for each argument.
type form struct {
	tool   string
	fields []field
	at     int
	fault  string
}

// field is one argument. What is written there is read as workbench call reads it, and what begins like JSON as that.
type field struct {
	name, hint, value string
	needed            bool
}

// newForm makes the form of a tool by its schema. One whose schema names no argument has a field for all of them, as
// JSON.
func newForm(tool string, schema []byte) *form {
	var of struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	_ = json.Unmarshal(schema, &of) // what cannot be read names no argument
	f := &form{tool: tool}
	for _, name := range jsontype.Properties(schema) {
		f.fields = append(f.fields, newField(name, of.Properties[name], slices.Contains(of.Required, name)))
	}
	if len(f.fields) == 0 {
		f.fields = []field{{name: "", hint: "all arguments, as a JSON object"}}
	}
	return f
}

func newField(name string, schema []byte, needed bool) field {
	var of struct {
		Type        any    `json:"type"`
		Description string `json:"description"`
		Enum        []any  `json:"enum"`
		Default     any    `json:"default"`
	}
	_ = json.Unmarshal(schema, &of) // what cannot be read says nothing
	var hints []string
	if of.Type != nil {
		hints = append(hints, fmt.Sprint(of.Type))
	}
	for i, one := range of.Enum {
		if i == 0 {
			hints = append(hints, "one of "+fmt.Sprint(one))
		} else {
			hints[len(hints)-1] += ", " + fmt.Sprint(one)
		}
	}
	if of.Default != nil {
		text, _ := json.Marshal(of.Default)
		hints = append(hints, "otherwise "+string(text))
	}
	if of.Description != "" {
		hints = append(hints, of.Description)
	}
	return field{name: name, hint: foreign.NewText(strings.Join(hints, "; ")).String(), needed: needed}
}

// command is what calls the tool; nil if something is missing, and fault then says what.
func (f *form) command() []string {
	args := []string{"call", "--", f.tool}
	for i, one := range f.fields {
		value := strings.TrimSpace(one.value)
		switch {
		case value == "" && one.needed:
			f.at, f.fault = i, "this argument is needed"
			return nil
		case value == "":
		case one.name == "":
			args = append(args, value)
		case strings.HasPrefix(value, "{") || strings.HasPrefix(value, "["):
			args = append(args, one.name+":="+value)
		default:
			args = append(args, one.name+"="+one.value)
		}
	}
	f.fault = ""
	return args
}

// press takes a key into the field that is chosen. It reports whether the tool is to be called.
func (f *form) press(k tea.KeyPressMsg) (call bool) {
	one := &f.fields[f.at]
	switch k.String() {
	case "enter":
		return true
	case "tab", "down":
		f.at = (f.at + 1) % len(f.fields)
	case "shift+tab", "up":
		f.at = (f.at + len(f.fields) - 1) % len(f.fields)
	case "backspace":
		if r := []rune(one.value); len(r) > 0 {
			one.value = string(r[:len(r)-1])
		}
	case "ctrl+u":
		one.value = ""
	default:
		f.paste(k.Text)
	}
	return false
}

func (f *form) paste(text string) { f.fields[f.at].value += foreign.NewText(text).String() }

// lines are what is shown of the form in so many lines, the chosen field among them.
func (f *form) lines(width, height int, paint terminal.Paint) []string {
	lines := []string{paint.Bold("call " + foreign.NewName(f.tool).String()), ""}
	room := max((height-3)/2, 1)
	first := max(min(f.at-room/2, len(f.fields)-room), 0)
	for i := first; i < min(first+room, len(f.fields)); i++ {
		one := &f.fields[i]
		mark, need, value := "  ", "", one.value
		if i == f.at {
			mark, value = "> ", value+"_"
		}
		if one.needed {
			need = "*"
		}
		line := mark + foreign.NewName(one.name).String() + need + ": " + value
		if over := ansi.StringWidth(line) - width; over > 0 && i == f.at { // the end of it is being written
			line = mark + ansi.TruncateLeft(line, over+3, "…")
		}
		hint := one.hint
		if i == f.at && f.fault != "" {
			hint = paint.Bad(f.fault) + "; " + hint
		}
		lines = append(lines, line, "    "+paint.Faint(hint))
	}
	return lines
}

// keys say what keys do in it.
func (f *form) keys() string {
	return "enter call   tab, up, down another argument   ctrl+u empty it   esc back   * needed"
}
