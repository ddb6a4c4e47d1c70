package proxy

import (
	"encoding/json"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// formParams ask for one of two things. There is no default, so that a client which answers by itself chooses neither.
func formParams(message, key string, values, titles [2]string) []byte {
	params, err := json.Marshal(map[string]any{
		"message": message,
		"requestedSchema": map[string]any{
			"type":       "object",
			"properties": map[string]any{key: map[string]any{"type": "string", "title": "Decision", "enum": values, "enumNames": titles}},
			"required":   []string{key},
		},
	})
	if err != nil {
		panic("a question of strings cannot be encoded: " + err.Error())
	}
	return params
}

// chosen reads the result of such a question: whether it was answered at all, and by that value.
func chosen(raw []byte, result wire.Span, key, value string) bool {
	action, _ := wire.FindPath(raw, result, "action")
	got, err := wire.FindPath(raw, result, "content", key)
	said, _ := wire.Unquote(raw[action.Start:action.End])
	text, _ := wire.Unquote(raw[got.Start:got.End])
	return err == nil && said == "accept" && text == value
}
