package wire_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

func findCases() []struct{ name, raw, key, want, fault string } {
	const twice, cases = "duplicate member", "case-sensitive"
	return []struct{ name, raw, key, want, fault string }{
		{"first", `{"name":"x","other":1}`, "name", `"x"`, ""},
		{"last", `{"other":[{"name":1}],"name":{"a":"}"}}`, "name", `{"a":"}"}`, ""},
		{"white space", "{ \"a\" : 1 ,\n\"name\"\t: [ 1 , 2 ] }", "name", "[ 1 , 2 ]", ""},
		{"absent", `{"other":{"name":1},"names":1,"nam":2}`, "name", "", ""},
		{"empty object", `{}`, "name", "", ""},
		{"null", `{"name":null}`, "name", "null", ""},
		{"empty name", `{"":1}`, "", "1", ""},
		{"escapes", `{"n\u0061me":1}`, "name", "1", ""},
		{"escape of a slash", `{"a\/b":1}`, "a/b", "1", ""},
		{"wanted name with a backslash", `{"a\\n":1,"a\n":2}`, `a\n`, "1", ""},
		{"wanted name beyond ASCII", `{"größe":1}`, "größe", "1", ""},
		{"surrogate pair", `{"\ud83d\ude00":1}`, "😀", "1", ""},
		{"lone surrogate is no character", `{"\ud83d":1}`, "😀", "", ""},
		{"quotes and backslashes in text", `{"a":"\\\\\"","b":"\\","name":"\\\"}"}`, "name", `"\\\"}"`, ""},
		{"twice", `{"name":1,"name":1}`, "name", "", twice},
		{"twice by escapes", `{"name":1,"\u006e\u0061\u006d\u0065":1}`, "name", "", twice},
		{"another twice", `{"a":1,"a":2,"name":3}`, "name", "3", ""},
		{"capitals", `{"Name":1}`, "name", "", cases},
		{"capitals beside", `{"name":1,"nAME":2}`, "name", "", cases},
		{"capitals by escapes", `{"\u004eame":1}`, "name", "", cases},
		{"long s", "{\"tag\u017f\":1}", "tags", "", cases},
		{"long s first", "{\"\u017ftag\":1}", "stag", "", cases},
		{"long s by escapes", `{"tag\u017F":1}`, "tags", "", cases},
		{"Kelvin sign", `{"progressTo\u212aen":1}`, "progressToken", "", cases},
		{"Kelvin sign first", "{\"\u212aey\":1}", "key", "", cases},
		{"capitals beyond ASCII", `{"GRÖSSE":1}`, "grösse", "", cases},
		{"wanted in capitals", `{"uri":1}`, "URI", "", cases},
		{"array", `["name",1]`, "name", "", "not an object"},
		{"string", `"name"`, "name", "", "not an object"},
	}
}

func TestFind(t *testing.T) {
	for _, tt := range findCases() {
		t.Run(tt.name, func(t *testing.T) {
			raw := []byte("[" + tt.raw + `,{"name":"outside"}]`)
			out := []wire.Span{{Start: 3, End: 4}} // left from another call
			err := wire.Find(raw, wire.Span{Start: 1, End: 1 + len(tt.raw)}, []string{tt.key}, out)
			if tt.fault != "" {
				var fault *wire.Error
				if !errors.As(err, &fault) || fault.Code != wire.CodeInvalidParams || !strings.Contains(fault.Message, tt.fault) {
					t.Errorf("got %v, want code %d %s", err, wire.CodeInvalidParams, tt.fault)
				}
				return
			}
			if got := string(raw[out[0].Start:out[0].End]); err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestFindSeveral(t *testing.T) {
	raw := []byte(`{"uri":1,"arguments":{"name":2},"name":3}`)
	var out [3]wire.Span
	if err := wire.Find(raw, wire.Span{End: len(raw)}, []string{"name", "_meta", "arguments"}, out[:]); err != nil {
		t.Fatal(err)
	}
	got := []string{string(raw[out[0].Start:out[0].End]), string(raw[out[1].Start:out[1].End]), string(raw[out[2].Start:out[2].End])}
	if want := []string{"3", "", `{"name":2}`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFindPath(t *testing.T) {
	for _, tt := range []struct{ name, raw, want, fault string }{
		{"found", `{"name":"x","_meta":{"progressToken":7}}`, "7", ""},
		{"absent at once", `{"name":"x"}`, "", ""},
		{"absent further in", `{"_meta":{}}`, "", ""},
		{"leads into null", `{"_meta":null}`, "", ""},
		{"leads into an array", `{"_meta":[{"progressToken":7}]}`, "", ""},
		{"twice at once", `{"_meta":{},"_meta":{}}`, "", "duplicate"},
		{"twice further in", `{"_meta":{"progressToken":1,"progressToken":2}}`, "", "duplicate"},
		{"capitals", `{"_meta":{"progresstoken":1}}`, "", "case-sensitive"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw := []byte(tt.raw)
			s, err := wire.FindPath(raw, wire.Span{End: len(raw)}, "_meta", "progressToken")
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("got %v, want %s", err, tt.fault)
				}
				return
			}
			if got := string(raw[s.Start:s.End]); err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestFindPathOfNothing(t *testing.T) {
	if s, err := wire.FindPath([]byte(`{}`), wire.Span{}, "_meta"); s.Present() || err != nil {
		t.Errorf("got %v, %v, want it absent", s, err)
	}
}

func TestMembersAndElements(t *testing.T) {
	for _, tt := range []struct{ name, raw, members, elements string }{
		{"object", `{"a":1, "b" : [2,{"c":3}] ,"d":"}"}`, `"a"=1 "b"=[2,{"c":3}] "d"="}"`, ""},
		{"array", `[1, "a]" ,[],{"b":[2]},null , -1e5]`, "", `1 "a]" [] {"b":[2]} null -1e5`},
		{"empty object", `{ }`, "", ""},
		{"empty array", `[ ]`, "", ""},
		{"neither", `"[1]"`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw := []byte(tt.raw)
			var members, elements []string
			for name, val := range wire.Members(raw, wire.Span{End: len(raw)}) {
				members = append(members, string(raw[name.Start:name.End])+"="+string(raw[val.Start:val.End]))
			}
			for val := range wire.Elements(raw, wire.Span{End: len(raw)}) {
				elements = append(elements, string(raw[val.Start:val.End]))
			}
			if got := strings.Join(members, " "); got != tt.members {
				t.Errorf("got members %s, want %s", got, tt.members)
			}
			if got := strings.Join(elements, " "); got != tt.elements {
				t.Errorf("got elements %s, want %s", got, tt.elements)
			}
		})
	}
}

func TestMembersStopsWhenAsked(t *testing.T) {
	raw := []byte(`{"a":[1,2],"b":[3]}`)
	seen := 0
	for _, val := range wire.Members(raw, wire.Span{End: len(raw)}) {
		for range wire.Elements(raw, val) {
			seen++
			break
		}
		break
	}
	if seen != 1 {
		t.Errorf("got %d values, want 1", seen)
	}
}

// A value that is not there, or not for certain, is none.
func TestText(t *testing.T) {
	raw := []byte(`{"b":"x\u0041","n":7,"twice":"1","twice":"2","Case":"1"}`)
	for name, want := range map[string]string{"b": "xA", "n": "", "twice": "", "case": "", "none": ""} {
		if got, ok := wire.Text(raw, wire.Whole(raw), name); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %t, want %q", name, got, ok, want)
		}
	}
	if got := wire.Get(raw, wire.Whole(raw), "n"); string(got) != "7" || cap(got) != 1 {
		t.Errorf("got %s of capacity %d, want what can be appended to without harm", got, cap(got))
	}
}

func TestObject(t *testing.T) {
	inner := wire.NewObject(nil).End()
	got := wire.NewObject([]byte("[")).Text("text", "<\"").Int("int", -7).Raw("raw", inner).End()
	if want := `[{"text":"<\"","int":-7,"raw":{}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
