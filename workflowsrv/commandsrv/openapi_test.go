package commandsrv_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-workbench/workbench/internal/principal"
)

// document reads /openapi.json.
func (b *bed) document(t *testing.T) map[string]any {
	t.Helper()
	w := httptest.NewRecorder()
	b.ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
	return object(t, w.Body.Bytes())
}

func object(t *testing.T, text []byte) map[string]any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%s is no object", text)
	}
	return m
}

// schema makes the schema that lies at a pointer of a document usable, once.
func (b *bed) schema(t *testing.T, document func() map[string]any, pointer string) *jsonschema.Schema {
	t.Helper()
	if b.schemas[pointer] == nil {
		b.schemas[pointer] = compile(t, document(), pointer)
	}
	return b.schemas[pointer]
}

func compile(t *testing.T, document map[string]any, pointer string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("http://document", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("http://document#" + pointer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkAnswer holds an answer over HTTP against the document: its status must stand there, and its body keep to the
// schema.
func (b *bed) checkAnswer(t *testing.T, method, path string, status int, body []byte) {
	t.Helper()
	if b.described == nil {
		b.described = b.document(t)
	}
	document := b.described
	if strings.HasPrefix(path, "/turns/") {
		path = "/turns/{turn_key}"
	}
	paths := document["paths"].(map[string]any)
	item, _ := paths[path].(map[string]any)
	if item[strings.ToLower(method)] == nil {
		if status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
			t.Errorf("%s %s is answered with %d and not documented", method, path, status)
		}
		return
	}
	pointer := "/paths/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path) + "/" + strings.ToLower(method) +
		"/responses/" + strconv.Itoa(status) + "/content/application~1json/schema"
	answer, err := jsonschema.UnmarshalJSON(strings.NewReader(string(body)))
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return
	}
	if err := b.schema(t, func() map[string]any { return document }, pointer).Validate(answer); err != nil {
		t.Errorf("%s %s, %d: %s is not as documented: %v", method, path, status, body, err)
	}
}

// checkTool holds the structured content of a result against the output schema of its tool.
func (b *bed) checkTool(t *testing.T, tool, reply string) {
	t.Helper()
	result, _ := object(t, []byte(reply))["result"].(map[string]any)
	if result == nil || result["structuredContent"] == nil {
		return
	}
	if b.tools == nil {
		k := b.talk(t, principal.Principal{Name: "reader"})
		k.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`)
		b.tools = object(t, []byte(k.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)))["result"].(map[string]any)["tools"].([]any)
	}
	for i, entry := range b.tools {
		if entry.(map[string]any)["name"] != tool {
			continue
		}
		schema := b.schema(t, func() map[string]any { return map[string]any{"tools": b.tools} }, "/tools/"+strconv.Itoa(i)+"/outputSchema")
		if err := schema.Validate(result["structuredContent"]); err != nil {
			t.Errorf("%s: %s does not keep to the output schema: %v", tool, reply, err)
		}
		return
	}
	t.Errorf("%s is not listed", tool)
}

// The document names every route and no other: what it names is served, what is served by another method is refused,
// and each operation is in it. Each operation that is a tool is told of in the docs.
func TestDocument(t *testing.T) {
	b := newBed(t, nil)
	document := b.document(t)
	docs, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	noTools := []string{"invoke_agent_stream", "get_turn", "liveness", "readiness", "openapi", "stop_turn", "follow_turn"}
	seen := map[string]bool{}
	for path, item := range document["paths"].(map[string]any) {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH"} {
			operation, documented := item.(map[string]any)[strings.ToLower(method)].(map[string]any)
			w := httptest.NewRecorder()
			b.ServeHTTP(w, httptest.NewRequest(method, strings.ReplaceAll(path, "{turn_key}", "nope"), strings.NewReader("{}")))
			switch {
			case documented && (w.Code == http.StatusMethodNotAllowed || strings.Contains(w.Body.String(), "there is nothing at")):
				t.Errorf("%s %s is documented, got %d: %s", method, path, w.Code, w.Body)
			case !documented && w.Code != http.StatusMethodNotAllowed:
				t.Errorf("%s %s is not documented, got %d: %s", method, path, w.Code, w.Body)
			case documented:
				id := operation["operationId"].(string)
				if seen[id] = true; !slices.Contains(noTools, id) && !bytes.Contains(docs, []byte("`"+id+"`")) {
					t.Errorf("docs/commands.md does not tell of the operation %s", id)
				}
			}
		}
	}
	want := noTools
	for name := range routes() {
		want = append(want, name)
	}
	for _, id := range want {
		if !seen[id] {
			t.Errorf("%s is not in the document", id)
		}
	}
	if got := document["openapi"]; got != "3.1.0" {
		t.Errorf("got OpenAPI version %v, want 3.1.0", got)
	}
}

// Generators of clients take a schema by its word: an object without members becomes a type that takes no members, a
// list without items one that takes no item, an integer one of 32 bits.
func TestDocumentForGenerators(t *testing.T) {
	document := newBed(t, nil).document(t)
	schemas := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for i, item := range v {
				walk(at+"/"+strconv.Itoa(i), item)
			}
		case map[string]any:
			is := func(name string) bool {
				many, _ := v["type"].([]any)
				return v["type"] == name || slices.Contains(many, any(name))
			}
			said := func(key string) bool { _, ok := v[key]; return ok }
			schemas++
			if is("object") && !said("properties") && !said("additionalProperties") {
				t.Errorf("%s: an object that does not say what its members may be", at)
			}
			if is("array") && !said("items") {
				t.Errorf("%s: a list that does not say what its items may be", at)
			}
			if is("integer") && !said("format") {
				t.Errorf("%s: an integer that does not say how long it may be", at)
			}
			if (said("enum") || said("const")) && !said("type") {
				t.Errorf("%s: a choice without a type", at)
			}
			for key, member := range v {
				walk(at+"/"+key, member)
			}
		}
	}
	walk("", document)
	if schemas < 100 {
		t.Errorf("got %d objects, want the whole document", schemas)
	}
}

// What the front refuses at every path, before it asks who serves it, is in the answers of every operation: no token,
// a token or an origin that may not come here, and that workbench ends. So is what may be wrong with a body.
func TestDocumentTellsOfRefusals(t *testing.T) {
	for path, item := range newBed(t, nil).document(t)["paths"].(map[string]any) {
		if path == "/probes/healthz" || path == "/probes/readyz" { // for everybody
			continue
		}
		for method, operation := range item.(map[string]any) {
			want := []string{"401", "403", "503"}
			if method == "post" {
				want = append(want, "400", "408", "413", "415", "429")
			}
			for _, status := range want {
				if operation.(map[string]any)["responses"].(map[string]any)[status] == nil {
					t.Errorf("%s %s does not tell of %s", method, path, status)
				}
			}
		}
	}
}
