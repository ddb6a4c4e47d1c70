//go:build linux

package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// drawForms makes forms of drawn schemas, in which words have values that they cannot have, and of those that refer to
// themselves. It returns what went wrong.
const drawForms = `(async () => {
	const { form } = await import([...document.querySelectorAll("link[rel=modulepreload]")].map((e) => e.href).find((u) => u.endsWith("form.js")));
	const draw = (n) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
	const pick = (list) => list[draw(list.length)];
	const odd = () => pick([null, true, 5, -1, 1e300, "x", "", [], {}, [null], ["string", "null"], "__proto__", {a: 1}, [[]], "constructor"]);
	const words = ["type", "properties", "required", "items", "prefixItems", "enum", "const", "oneOf", "anyOf", "allOf", "$ref", "additionalProperties", "default", "title",
		"description", "format", "minimum", "maximum", "minLength", "minItems", "pattern", "examples", "enumNames", "$defs", "multipleOf", "exclusiveMinimum"];
	const members = (deep) => {
		const o = {};
		for (let i = draw(4); i > 0; i--) Object.defineProperty(o, pick(["a", "b", "__proto__", "constructor", "toString", "hasOwnProperty", "", "x y"]), {value: schema(deep), enumerable: true});
		return o;
	};
	const sound = (word, deep) => {
		switch (word) {
			case "type": return pick(["object", "array", "string", "integer", "number", "boolean", "null", ["string", "null"], ["object", "null"], "any"]);
			case "properties": case "$defs": return members(deep);
			case "required": return [pick(["a", "b", "c", "__proto__"])];
			case "items": case "additionalProperties": return schema(deep);
			case "prefixItems": case "oneOf": case "anyOf": case "allOf": return Array.from({length: draw(4)}, () => schema(deep));
			case "enum": return Array.from({length: draw(4)}, odd);
			case "$ref": return pick(["#", "#/$defs/a", "#/properties/a", "#/%zz", "https://example.com/y", "#/constructor", "#/__proto__"]);
		}
		return odd();
	};
	const schema = (deep) => {
		if (deep > 4 || draw(12) === 0) return odd();
		const s = {};
		for (let i = draw(5); i >= 0; i--) {
			const word = pick(words);
			s[word] = draw(4) === 0 ? odd() : sound(word, deep + 1);
		}
		return s;
	};
	const place = document.createElement("div");
	document.body.append(place);
	const wrong = [];
	const look = (of, value) => {
		try {
			const made = form(of, value);
			place.replaceChildren(made.el);
			for (const d of place.querySelectorAll("details")) d.open = true;
			try {
				JSON.stringify(made.value());
			} catch (err) {
				if (!err.field) throw err;
			}
			const n = place.querySelectorAll("*").length;
			if (n > 20000) wrong.push(JSON.stringify(of).slice(0, 300) + " has " + n + " elements");
		} catch (err) {
			wrong.push(JSON.stringify(of).slice(0, 300) + " " + err.stack);
		}
	};
	for (let i = 0; i < 4000 && wrong.length < 5; i++) look(schema(0), draw(3) ? undefined : odd());
	const many = {a: {$ref: "#/$defs/e"}, b: {$ref: "#/$defs/e"}, c: {$ref: "#/$defs/e"}};
	look({$defs: {e: {type: "object", properties: many}}, $ref: "#/$defs/e"});
	look({$defs: {e: {type: "object", properties: many, required: ["a", "b", "c"]}}, $ref: "#/$defs/e"});
	look({$defs: {e: {allOf: Object.values(many)}}, $ref: "#/$defs/e"});
	look({$defs: {e: {anyOf: Object.values(many)}}, type: "object", properties: {a: {$ref: "#/$defs/e"}}, required: ["a"]});
	look({$defs: {e: {type: "array", minItems: 20, items: {$ref: "#/$defs/e"}}}, type: "object", properties: {a: {$ref: "#/$defs/e"}}, required: ["a"]});
	place.remove();
	return wrong.join("\n");
})()`

// There is a form for any schema, however little sense it makes, and of bounded size.
func thereIsAFormForAnySchema(tb *tab) {
	tb.show("tools")
	for _, seed := range []int{1, 2, 3} {
		if wrong := eval[string](tb, strings.Replace(drawForms, "(async () => {", fmt.Sprintf("(async () => { let seed = %d;", seed), 1)); wrong != "" {
			tb.t.Errorf("seed %d: %s", seed, wrong)
		}
	}
}

// Digits beyond those of JavaScript's numbers are shown, sent and approved as they were written, and so is a member that
// stands there twice.
func TestDigitsAreKept(t *testing.T) {
	t.Parallel()
	const id = "12345678901234567890"
	one := server("tools=result", `tool={"name":"echo","inputSchema":{"type":"object","properties":{"id":{"type":"integer"},"constructor":{"type":"integer"}}}}`)
	careful := server("tools=echo")
	careful["approve"] = "always"
	w := newWorld(t, configOf(map[string]any{"one": one, "careful": careful}))
	client := w.client()
	tb := w.visit(w.ui())
	tb.sees(`tr[data-server="box/one"]`, "ready")
	tb.show("tools")
	tb.show("tools/box/one/echo")
	tb.fill("id", id)
	tb.press("Call")
	tb.sees(".outcome", `"id": `+id)
	tb.press("Edit as JSON")
	tb.wait("the digits are in the text", `document.querySelector("textarea.code")?.value.includes("`+id+`")`)
	tb.press("Edit as JSON")
	tb.press("Call")
	tb.sees(".outcome", `"id": `+id)

	tb.show("tools/box/one/result")
	tb.press("Edit as JSON")
	eval[any](tb, `document.querySelector("textarea.code").value = '{"result": {"content": [], "structuredContent": {"rows": [{"id": `+id+`, "x": 0.1}]}}}', 1`)
	tb.press("Call")
	tb.sees(".outcome tbody", id+"0.1")

	call := client.Request("tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"careful/echo","arguments":{"id":`+id+`,"to":"ada","to":"eve"}}}`)
	tb.show("approvals")
	tb.sees(".card pre", "{\n  \"id\": "+id+",\n  \"to\": \"ada\",\n  \"to\": \"eve\"\n}")
	tb.press("Agree to box/careful/echo")
	if reply := client.Reply(call); reply.Error != nil || !strings.Contains(string(reply.Result), id) {
		t.Errorf("got %s, %v, want the digits", wiretest.Clip(string(reply.Result)), reply.Error)
	}
}
