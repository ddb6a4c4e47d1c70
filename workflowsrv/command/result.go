package command

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A result is what a command returned, whatever it is bound to.
type result struct {
	text   string
	data   json.RawMessage // structured, nil for none
	extra  json.RawMessage // content that is no text, an array; nil for none
	given  json.RawMessage // all the content as the tool gave it, an array; nil for none
	failed bool
}

func failure(format string, args ...any) result {
	return result{text: fmt.Sprintf(format, args...), failed: true}
}

// readToolResult takes a result of tools/call apart.
func readToolResult(raw json.RawMessage) result {
	var reply struct {
		Content           json.RawMessage `json:"content"`
		StructuredContent json.RawMessage `json:"structuredContent"`
		IsError           bool            `json:"isError"`
	}
	var content []json.RawMessage
	err := json.Unmarshal(raw, &reply)
	if err == nil && reply.Content != nil {
		err = json.Unmarshal(reply.Content, &content)
	}
	if err != nil {
		return failure("the result of the tool cannot be read: %v", err)
	}
	r := result{failed: reply.IsError}
	deep := tooDeep(raw)
	if len(content) > 0 && !deep {
		r.given = reply.Content
	}
	if string(reply.StructuredContent) != "null" && !deep {
		r.data = reply.StructuredContent
	}
	var texts []string
	var other []json.RawMessage
	for _, item := range content {
		var text struct {
			Type string  `json:"type"`
			Text *string `json:"text"`
		}
		if json.Unmarshal(item, &text) == nil && text.Type == "text" && text.Text != nil {
			texts = append(texts, *text.Text)
		} else if !deep {
			other = append(other, item)
		}
	}
	r.text = strings.Join(texts, "\n")
	if other != nil {
		r.extra, _ = json.Marshal(other)
	}
	if r.data == nil && len(texts) == 1 {
		r.data = asData(texts[0])
	}
	if deep {
		r.text = strings.TrimSpace(fmt.Sprintf("%s\n(the result is nested deeper than %d levels, and only its text is here)", r.text, maxNested))
	}
	return r
}

// maxNested is how deep values and data may be nested. They come back within a result, which is a message, too, and
// nested at most [wire.MaxDepth] deep.
const maxNested = wire.MaxDepth / 2

// tooDeep reports whether JSON is nested deeper than that.
func tooDeep(raw []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw) && depth <= maxNested; i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return depth > maxNested
}

// asData takes a text for data if it is a JSON object or array.
func asData(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' || tooDeep([]byte(text)) || !json.Valid([]byte(text)) {
		return nil
	}
	return wire.Compact(nil, []byte(text))
}

// artifacts are the data of a result, so that none is lost behind its text.
func (r result) artifacts() map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	if len(r.data) > 0 && json.Unmarshal(r.data, &m) != nil {
		m = map[string]json.RawMessage{"result": r.data}
	}
	if r.extra != nil {
		m["content"] = r.extra
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// pick takes the outputs out of a result, and notes those that are not there.
func (r result) pick(outputs []Output, missing *[]string) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for _, out := range outputs {
		if found := point(r.data, out.Pointer); len(found) > 0 {
			m[out.Name] = found[0]
		} else {
			*missing = append(*missing, out.Name)
		}
	}
	if r.extra != nil {
		m["content"] = r.extra
	}
	return m
}

// point follows a JSON Pointer; * stands for every member of an array.
func point(data json.RawMessage, pointer string) []json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	here := []json.RawMessage{data}
	for _, token := range document.Tokens(pointer) {
		var next []json.RawMessage
		for _, v := range here {
			next = append(next, step(v, token)...)
		}
		here = next
	}
	return here
}

func step(v json.RawMessage, token string) []json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(v, &object) == nil && object != nil {
		if member, ok := object[token]; ok {
			return []json.RawMessage{wire.Compact(nil, member)}
		}
		return nil
	}
	var array []json.RawMessage
	if json.Unmarshal(v, &array) != nil {
		return nil
	}
	if token == "*" {
		return array
	}
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(array) {
		return array[i : i+1]
	}
	return nil
}
