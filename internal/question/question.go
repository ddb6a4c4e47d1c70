// Package question puts what a server wants to know of a person (elicitation) to the one at the terminal: a line for
// each field of a form, in the order of its schema, or an address to go to.
//
// What the server says is shown as the words of others. Nothing but what the person typed is answered.
package question

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Terminal is where a person is asked.
type Terminal struct {
	In  *bufio.Reader
	Out io.Writer
}

// The answers that are no content.
const (
	decline = `{"action":"decline"}`
	cancel  = `{"action":"cancel"}`
)

// maxTries is how often a field is asked for whose answer does not fit.
const maxTries = 5

// form are the params of elicitation/create.
type form struct {
	Mode    string        `json:"mode"`
	Message foreign.Lines `json:"message"`
	URL     foreign.Text  `json:"url"`
	Schema  struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	} `json:"requestedSchema"`
}

// field is one property of the schema.
type field struct {
	Title       foreign.Text    `json:"title"`
	Description foreign.Text    `json:"description"`
	Type        string          `json:"type"`
	Default     json.RawMessage `json:"default"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []choice        `json:"oneOf"`
	Items       *struct {
		Enum  []string `json:"enum"`
		AnyOf []choice `json:"anyOf"`
	} `json:"items"`
}

type choice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// Ask asks what the params of elicitation/create want, for a server, and returns the result. A person who types nothing
// leaves out what may be left out; "!" declines; the end of the input cancels.
func (t Terminal) Ask(server string, params []byte) ([]byte, error) {
	var f form
	if err := json.Unmarshal(params, &f); err != nil {
		return nil, fmt.Errorf("the question cannot be read: %w", foreign.NewError(err))
	}
	fmt.Fprintf(t.Out, "\nServer %s asks:\n", server)
	for line := range strings.Lines(f.Message.String()) {
		fmt.Fprintf(t.Out, "  %s", line)
	}
	fmt.Fprintln(t.Out)
	if f.Mode == "url" {
		return t.visit(f.URL)
	}
	content := []byte{'{'}
	for name, raw := range properties(f.Schema.Properties) {
		var one field
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, fmt.Errorf("the question cannot be read: %w", foreign.NewError(err))
		}
		value, err := t.field(name, &one, slices.Contains(f.Schema.Required, name))
		switch {
		case errors.Is(err, errDeclined):
			return []byte(decline), nil
		case errors.Is(err, io.EOF):
			return []byte(cancel), nil
		case err != nil:
			return nil, err
		case value == nil:
			continue
		}
		content = wire.AppendMember(content, wire.AppendQuote(nil, name), value)
	}
	if f.Schema.Properties == nil || string(f.Schema.Properties) == "{}" {
		if answer, err := t.line("Accept? [y/N] "); err != nil || !isYes(answer) {
			return []byte(decline), nil
		}
	}
	return wire.NewObject(nil).Text("action", "accept").Raw("content", append(content, '}')).End(), nil
}

// properties yields the properties of a schema in their order.
func properties(raw json.RawMessage) func(func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		if len(raw) == 0 || raw[0] != '{' {
			return
		}
		for key, value := range wire.Members(raw, wire.Whole(raw)) {
			if name, ok := wire.Unquote(raw[key.Start:key.End]); ok && !yield(name, raw[value.Start:value.End]) {
				return
			}
		}
	}
}

var errDeclined = errors.New("declined")

// visit has the person go to an address.
func (t Terminal) visit(url foreign.Text) ([]byte, error) {
	answer, err := t.line(fmt.Sprintf("  It wants you to open %s\n  First check whose address that is. Have you opened it? [y/N] ", url))
	switch {
	case errors.Is(err, io.EOF):
		return []byte(cancel), nil
	case err != nil:
		return nil, err
	case !isYes(answer):
		return []byte(decline), nil
	}
	return []byte(`{"action":"accept"}`), nil
}

func isYes(answer string) bool { return answer == "y" || answer == "yes" }

// line asks for a line.
func (t Terminal) line(prompt string) (string, error) {
	fmt.Fprint(t.Out, prompt)
	text, err := t.In.ReadString('\n')
	if err != nil && text == "" {
		return "", err
	}
	return strings.TrimSpace(text), nil
}

// field asks for one value until it fits; nil means that it is left out.
func (t Terminal) field(name string, f *field, required bool) ([]byte, error) {
	prompt := "  " + f.prompt(name, required)
	for range maxTries {
		text, err := t.line(prompt)
		switch {
		case err != nil:
			return nil, err
		case text == "!":
			return nil, errDeclined
		case text == "" && len(f.Default) > 0:
			return f.Default, nil
		case text == "" && !required:
			return nil, nil
		}
		value, err := f.read(text)
		if err == nil {
			return value, nil
		}
		fmt.Fprintf(t.Out, "  %v\n", err)
	}
	return nil, errDeclined
}

// prompt is what stands before the place where the value is typed.
func (f *field) prompt(name string, required bool) string {
	said := foreign.NewName(name).String()
	if !f.Title.IsEmpty() {
		said = f.Title.String()
	}
	if !f.Description.IsEmpty() {
		said += " – " + f.Description.String()
	}
	var notes []string
	switch values := f.values(); {
	case values != nil:
		notes = append(notes, strings.Join(values, ", "))
	case f.Type == "boolean":
		notes = append(notes, "yes or no")
	case f.Type != "string" && f.Type != "":
		notes = append(notes, foreign.NewName(f.Type).String())
	}
	switch {
	case len(f.Default) > 0:
		notes = append(notes, "Enter: "+foreign.NewName(strings.Trim(string(f.Default), `"`)).String())
	case !required:
		notes = append(notes, "Enter: none")
	}
	notes = append(notes, "!: decline")
	return fmt.Sprintf("%s [%s]: ", said, strings.Join(notes, "; "))
}

// choices are the values that may be chosen, with what they are called.
func (f *field) choices() (all []choice) {
	enum, several := f.Enum, f.OneOf
	if f.Items != nil {
		enum, several = f.Items.Enum, f.Items.AnyOf
	}
	for i, value := range enum {
		one := choice{Const: value}
		if i < len(f.EnumNames) {
			one.Title = f.EnumNames[i]
		}
		all = append(all, one)
	}
	return append(all, several...)
}

func (f *field) values() (values []string) {
	for _, c := range f.choices() {
		said := foreign.NewName(c.Const).String()
		if c.Title != "" && c.Title != c.Const {
			said += " (" + foreign.NewName(c.Title).String() + ")"
		}
		values = append(values, said)
	}
	return values
}

// read takes what was typed for a value of the field.
func (f *field) read(text string) ([]byte, error) {
	if f.Type == "boolean" {
		switch strings.ToLower(text) {
		case "y", "yes", "true":
			return []byte("true"), nil
		case "n", "no", "false":
			return []byte("false"), nil
		}
		return nil, fmt.Errorf("write yes or no")
	}
	if f.Type == "array" {
		out := []byte{'['}
		for one := range strings.SplitSeq(text, ",") {
			value, err := f.chosen(strings.TrimSpace(one))
			if err != nil {
				return nil, err
			}
			out = append(wire.Comma(out), value...)
		}
		return append(out, ']'), nil
	}
	if f.choices() != nil {
		return f.chosen(text)
	}
	var types []string
	if f.Type != "" {
		types = []string{f.Type}
	}
	return jsontype.Value(text, types)
}

// chosen is one of the values, named by itself or by what it is called.
func (f *field) chosen(text string) ([]byte, error) {
	all := f.choices()
	if all == nil {
		return wire.AppendQuote(nil, text), nil
	}
	for _, c := range all {
		if c.Const == text || c.Title != "" && c.Title == text {
			return wire.AppendQuote(nil, c.Const), nil
		}
	}
	return nil, fmt.Errorf("write one of %s", strings.Join(f.values(), ", "))
}
