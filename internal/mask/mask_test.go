package mask_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/mask"
)

func set() *mask.Set {
	s := new(mask.Set)
	s.Add("hunter2-canary", "${secret:db}")
	s.Add(`quo"ted\canary`, "${secret:odd}")
	s.Add("4711004711", "${secret:number}")
	s.Add("first line\nsecond line\n", "${secret:key}")
	s.Add("short", "${secret:short}") // of five letters, which occur by chance
	return s
}

func TestJSON(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"nothing":            {`{"a":[1,true,null,"x"],"b":{}}`, `{"a":[1,true,null,"x"],"b":{}}`},
		"a value":            {`{"a":"psql -p hunter2-canary x"}`, `{"a":"psql -p ${secret:db} x"}`},
		"a key":              {`{"hunter2-canary":1}`, `{"${secret:db}":1}`},
		"escaped":            {`["hunter2\u002dcanary"]`, `["${secret:db}"]`},
		"quoted":             {`["quo\"ted\\canary"]`, `["${secret:odd}"]`},
		"JSON in JSON":       {`["{\"p\":\"quo\\\"ted\\\\canary\"}"]`, `["{\"p\":\"${secret:odd}\"}"]`},
		"JSON as a text":     {`["{\"password\":\"x\",\"n\":1}"]`, `["{\"password\":\"[masked]\",\"n\":1}"]`},
		"in an address":      {`["http://x/?p=quo%22ted%5Ccanary"]`, `["http://x/?p=${secret:odd}"]`},
		"a number":           {`{"n":4711004711,"m":12}`, `{"n":"${secret:number}","m":12}`},
		"of several lines":   {`["second line"]`, `["${secret:key}"]`},
		"short":              {`["short"]`, `["short"]`},
		"by its member":      {`{"password" : "x","n":{"API_KEY":7,"token":""},"tokens":8}`, `{"password" : "[masked]","n":{"API_KEY":"[masked]","token":""},"tokens":8}`},
		"an object's":        {`{"token":{"a":"b"},"secret":["c"]}`, `{"token":{"a":"b"},"secret":["c"]}`},
		"a token":            {`["use ghp_abcdefghijklmnopqrstuvwx now"]`, `["use [masked] now"]`},
		"a header":           {`["Authorization: Bearer abcdefgh.ijklmnop"]`, `["Authorization: [masked]"]`},
		"a private key":      {`["a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b"]`, `["a [masked] b"]`},
		"a public key":       {`["-----BEGIN PUBLIC KEY-----\nMIIE"]`, `["-----BEGIN PUBLIC KEY-----\nMIIE"]`},
		"a word like it":     {`["task-force-of-sixteen-letters, disk-abcdefghijklmnopqrst"]`, `["task-force-of-sixteen-letters, disk-abcdefghijklmnopqrst"]`},
		"text":               {`"hunter2-canary"`, `"${secret:db}"`},
		"white space kept":   {" [ \"a\" ,\t\"hunter2-canary\" ] ", " [ \"a\" ,\t\"${secret:db}\" ] "},
		"not a valid letter": {`["\ud800hunter2-canary"]`, "[\"\ufffd${secret:db}\"]"},
	} {
		t.Run(name, func(t *testing.T) {
			got, masked := set().JSON([]byte(test.in))
			if string(got) != test.want || masked != (test.in != test.want) {
				t.Errorf("got %s, masked %v, want %s", got, masked, test.want)
			}
			if !json.Valid(got) {
				t.Error("it is no JSON")
			}
		})
	}
}

func TestASetIsBounded(t *testing.T) {
	var s mask.Set
	for i := range 6000 {
		s.Add(fmt.Sprintf("secret-%06d", i), "*")
	}
	if got := s.Text("secret-005999 secret-000000"); got != "* secret-000000" {
		t.Errorf("got %q, want the last masked, and the first forgotten", got)
	}
	if got := (*mask.Set)(nil).Text("secret"); got != "secret" {
		t.Errorf("got %q of no set", got)
	}
}

// Masked JSON is JSON, and has no secret in it.
func FuzzJSON(f *testing.F) {
	f.Add(`{"password":"x","a":["hunter2-canary",4711004711,{"b":"ghp_abcdefghijklmnopqrstuvwx"}]}`)
	f.Add(`["-----BEGIN RSA PRIVATE KEY-----", "Bearer Bearer aaaaaaaaaaaaaaaaaaa"]`)
	s := set()
	f.Fuzz(func(t *testing.T, in string) {
		if !json.Valid([]byte(in)) {
			return
		}
		once, _ := s.JSON([]byte(in))
		if !json.Valid(once) {
			t.Fatalf("%s became %s", in, once)
		}
		if strings.Contains(string(once), "hunter2-canary") {
			t.Fatalf("%s is left in %s", in, once)
		}
	})
}

func TestSecretArguments(t *testing.T) {
	for line, want := range map[string]string{
		"-y pkg --api-key one":                  "one",
		"--token=two --verbose":                 "two",
		"--password three --db-dsn=four -p x":   "three four",
		"--token --verbose":                     "",
		"run token five":                        "",
		"--token":                               "",
		"":                                      "",
		"--log-level=debug --port 80":           "",
		"--secret=a=b":                          "a=b",
		"-e API_KEY=six":                        "six",
		"--env=API_KEY=seven --env API_TOKEN=8": "seven 8",
	} {
		if got := strings.Join(mask.SecretArguments(strings.Fields(line)), " "); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
