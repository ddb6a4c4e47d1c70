package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-workbench/workbench/internal/mcptest"
)

// refused says what the interfaces of models refuse in an input schema; "" for nothing. They refuse all tools with it.
func refused(t *testing.T, draft *jsonschema.Schema, raw json.RawMessage) string {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	root := schema.(map[string]any)
	for _, word := range []string{"allOf", "anyOf", "oneOf", "not"} {
		if root[word] != nil {
			return word + " at the top"
		}
	}
	properties, _ := root["properties"].(map[string]any)
	for name := range properties {
		if !regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`).MatchString(name) {
			return "the name " + name
		}
	}
	if root["type"] != "object" {
		return "no object"
	}
	if err := draft.Validate(schema); err != nil {
		return err.Error()
	}
	return withoutItems(schema)
}

func withoutItems(v any) string {
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "array" && v["items"] == nil {
			return "an array without items"
		}
		for _, inner := range v {
			if fault := withoutItems(inner); fault != "" {
				return fault
			}
		}
	case []any:
		for _, inner := range v {
			if fault := withoutItems(inner); fault != "" {
				return fault
			}
		}
	}
	return ""
}

// The interfaces of models refuse a request with all its tools for one input schema. Each tool is listed with one that
// they take, as far as the client's revision allows, and is called by the names in it as by its server's own.
func TestFaultG96_SchemasThatModelsRefuse(t *testing.T) {
	draft, err := jsonschema.NewCompiler().Compile("https://json-schema.org/draft/2020-12/schema")
	if err != nil {
		t.Fatal(err)
	}
	definition := func(name, schema string) string { return fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, name, schema) }
	const good = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a.b-c_1":{"type":"array","items":{}}},"x-vendor":1.0}`
	tools := map[string]string{
		"params":  `{"type":"object","properties":{"filter[id]":{"type":"string"},"at<":{},"at>":{}},"required":["filter[id]"]}`,
		"choice":  `{"type":"object","oneOf":[{"properties":{"id":{"type":"integer"}},"required":["id"]},{"properties":{"name":{"type":"string"}},"required":["name"]}]}`,
		"tuple":   `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"range":{"type":"array","items":[{"type":"number"},{"type":"number"}],"additionalItems":false}}}`,
		"old":     `{"type":"object","properties":{"n":{"type":"integer","minimum":0,"exclusiveMinimum":true,"required":true},"any":{"type":"any"}}}`,
		"list":    `{"type":"object","properties":{"rows":{"type":"array","items":{"type":"array"}}}}`,
		"wrapped": `{"$ref":"#/definitions/Args","definitions":{"Args":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}}`,
		"good":    good,
	}
	server := &mcptest.Server{}
	for name, schema := range tools {
		server.Tools = append(server.Tools, definition(name, schema))
	}
	c := dial(t, true, map[string]*mcptest.Server{"s": server})
	c.initialize()
	for _, modern := range []bool{false, true} {
		params := func(of string) string {
			if modern {
				of = strings.Replace(strings.Replace(of, "{", "{"+meta("")+",", 1), ",}", "}", 1)
			}
			return of
		}
		c.say(`{"jsonrpc":"2.0","id":"list%v","method":"tools/list","params":%s}`, modern, params("{}"))
		var listed struct {
			Result struct {
				Tools []struct {
					Name        string
					InputSchema json.RawMessage
				}
			}
		}
		if err := json.Unmarshal([]byte(c.hear(fmt.Sprintf(`"id":"list%v"`, modern))), &listed); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, tool := range listed.Result.Tools {
			name, isServers := strings.CutPrefix(tool.Name, "box__s__")
			if isServers {
				seen++
			}
			fault := refused(t, draft, tool.InputSchema)
			if kept := name == "choice" && strings.Contains(fault, "at the top"); fault != "" && !(modern && kept) || modern && name == "choice" && !kept {
				t.Errorf("modern %v: %s is listed with %s: %s", modern, tool.Name, tool.InputSchema, fault)
			}
			if name == "good" && string(tool.InputSchema) != good {
				t.Errorf("got %s, want what the server has", tool.InputSchema)
			}
		}
		if seen != len(tools) {
			t.Errorf("modern %v: %d tools are listed, want %d", modern, seen, len(tools))
		}
		for i, call := range []string{
			`{"name":"box__s__params","arguments":{"filter_id":"x","at_lt":1}}`,
			`{"name":"box__s__params","arguments":{"filter[id]":"x","at<":1}}`,
			`{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"params","arguments":{"filter_id":"x","at_lt":1}}}`,
		} {
			c.say(`{"jsonrpc":"2.0","id":"call%d%v","method":"tools/call","params":%s}`, i, modern, params(call))
			if got := c.hear(fmt.Sprintf(`"id":"call%d%v"`, i, modern)); !strings.Contains(got, `{\"filter[id]\":\"x\",\"at<\":1}`) {
				t.Errorf("%s: got %s, want the server's own names to have come", call, got)
			}
		}
	}
}
