package reshape_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/mcp-workbench/workbench/internal/reshape"
)

func rule() *reshape.Rule {
	return &reshape.Rule{Name: "new_issue", Description: "Open an issue", Hidden: []string{"owner", "token"}, Defaults: []reshape.Argument{
		{Name: "owner", Value: json.RawMessage(`"me"`)}, {Name: "n", Value: json.RawMessage(`12345678901234567890`)}}}
}

const definition = `{"name":"create_issue","x":1.50,"inputSchema":{"type":"object","properties":{"owner":{"type":"string"},` +
	`"n":{"default":1,"type":"integer"},"token":true,"title":{"type":"string"}},"required":["owner","n","title"]}}`

func TestDefinition(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		rule           *reshape.Rule
		unknown        []string
	}{
		{"all", definition, `{"name":"new_issue","x":1.50,"inputSchema":{"type":"object","properties":{` +
			`"n":{"type":"integer","default":12345678901234567890},"title":{"type":"string"}},"required":["title"]},"description":"Open an issue"}`, rule(), nil},
		{"a description", `{"name":"x","description":"old","inputSchema":{}}`, `{"name":"x","description":"new","inputSchema":{}}`,
			&reshape.Rule{Description: "new"}, nil},
		{"parameters that are not there", `{"name":"x","inputSchema":{"type":"object"}}`, `{"name":"x","inputSchema":{"type":"object"}}`,
			&reshape.Rule{Hidden: []string{"a"}, Defaults: []reshape.Argument{{Name: "a"}, {Name: "b"}}}, []string{"a", "b"}},
		{"odd schemas", `{"name":"x","inputSchema":{"properties":[],"required":"a"}}`, `{"name":"x","inputSchema":{"properties":[],"required":"a"}}`,
			&reshape.Rule{Hidden: []string{"a"}}, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, unknown := c.rule.Definition([]byte(c.in))
			if string(got) != c.want || !reflect.DeepEqual(unknown, c.unknown) {
				t.Errorf("got  %s, unknown %q\nwant %s, unknown %q", got, unknown, c.want, c.unknown)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	_, a, _ := rule().Definition([]byte(definition))
	for _, c := range []struct{ name, in, want string }{
		{"none", ``, `{"owner":"me","n":12345678901234567890}`},
		{"null", `null`, `{"owner":"me","n":12345678901234567890}`},
		{"empty", `{ }`, `{"owner":"me","n":12345678901234567890}`},
		{"a default is given", `{"n": 1e0,"title":"\u0061"}`, `{"n":1e0,"title":"\u0061","owner":"me"}`},
		{"a hidden one is given", `{"owner":"you","n":1}`, `{"n":1,"owner":"me"}`},
		{"a hidden one is given twice", `{"owner":"you","n":1,"owner":"them"}`, `{"n":1,"owner":"me"}`},
		{"a hidden one is escaped", `{"own\u0065r":"you","n":1}`, `{"n":1,"owner":"me"}`},
		{"a hidden one in capitals", `{"OWNER":"you","n":1}`, `{"n":1,"owner":"me"}`},
		{"a hidden one without a default", `{"token":"t","n":1}`, `{"n":1,"owner":"me"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var in []byte
			if c.in != "" {
				in = []byte(c.in)
			}
			if got, err := a.Merge(in); err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
	for _, in := range []string{`"{\"owner\":\"you\"}"`, `[]`, `1`} {
		if got, err := a.Merge([]byte(in)); !errors.Is(err, reshape.ErrNoObject) {
			t.Errorf("%s: got %s, %v, want that it is refused", in, got, err)
		}
	}
	_, a, _ = (&reshape.Rule{Hidden: []string{"id"}}).Definition([]byte(`{"inputSchema":{"properties":{"id":{},"ID":{}}}}`))
	if got, err := a.Merge([]byte(`{"ID":1,"Id":2,"id":3}`)); err != nil || string(got) != `{"ID":1}` {
		t.Errorf("got %s, %v, want the parameter that differs in case, which the tool has", got, err)
	}
}

// FuzzMerge: whatever a caller gives, a hidden argument is that of the rule.
func FuzzMerge(f *testing.F) {
	_, a, _ := rule().Definition([]byte(definition))
	f.Add(`{"owner":"you"}`)
	f.Add(`{"owner":{"owner":"x"},"a":[1,2],"owneR":1}`)
	f.Fuzz(func(t *testing.T, in string) {
		if !json.Valid([]byte(in)) || in[0] != '{' {
			return
		}
		out, err := a.Merge([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Owner, Token any }
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if got.Owner != "me" || got.Token != nil {
			t.Errorf("got %s of %s, want the owner me and no token", out, in)
		}
	})
}
