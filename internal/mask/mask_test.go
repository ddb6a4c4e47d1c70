package mask_test

import (
	"encoding/json"
	"fmt"
	"slices"
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

// A secret is found in a line of a log as writers of JSON and addresses in several languages write it.
func TestForms(t *testing.T) {
	const secret = "p\u00e4ss w\"o\\rd+!(*)'~_.-/<a>&b=%41\U0001f511"
	s := new(mask.Set)
	s.Add(secret, "*")
	for writer, form := range map[string]string{
		"nobody":                    secret,
		"Go's json":                 `päss w\"o\\rd+!(*)'~_.-/\u003ca\u003e\u0026b=%41🔑`,
		"Go's json, twice":          `päss w\\\"o\\\\rd+!(*)'~_.-/\\u003ca\\u003e\\u0026b=%41🔑`,
		"JavaScript's json":         `päss w\"o\\rd+!(*)'~_.-/<a>&b=%41🔑`,
		"Python's json":             `p\u00e4ss w\"o\\rd+!(*)'~_.-/<a>&b=%41\ud83d\udd11`,
		"Python's json, twice":      `p\\u00e4ss w\\\"o\\\\rd+!(*)'~_.-/<a>&b=%41\\ud83d\\udd11`,
		"Go's QueryEscape":          `p%C3%A4ss+w%22o%5Crd%2B%21%28%2A%29%27~_.-%2F%3Ca%3E%26b%3D%2541%F0%9F%94%91`,
		"Go's PathEscape":           `p%C3%A4ss%20w%22o%5Crd+%21%28%2A%29%27~_.-%2F%3Ca%3E&b=%2541%F0%9F%94%91`,
		"Python's quote":            `p%C3%A4ss%20w%22o%5Crd%2B%21%28%2A%29%27~_.-/%3Ca%3E%26b%3D%2541%F0%9F%94%91`,
		"Python's quote, without /": `p%C3%A4ss%20w%22o%5Crd%2B%21%28%2A%29%27~_.-%2F%3Ca%3E%26b%3D%2541%F0%9F%94%91`,
		"encodeURIComponent":        `p%C3%A4ss%20w%22o%5Crd%2B!(*)'~_.-%2F%3Ca%3E%26b%3D%2541%F0%9F%94%91`,
	} {
		if got := s.Text("x " + form + " y"); got != "x * y" {
			t.Errorf("%s: got %q", writer, got)
		}
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

func TestInArguments(t *testing.T) {
	for name, test := range map[string]struct{ args, want []string }{
		"a flag and its value":     {[]string{"-y", "pkg", "--api-key", "one"}, []string{"one"}},
		"a pair":                   {[]string{"--token=two", "--verbose"}, []string{"two"}},
		"with spaces":              {[]string{"--password=of three words"}, []string{"of", "of three words", "three words", "words"}},
		"two, and one that is not": {[]string{"--password", "three", "--db-dsn=four", "-p", "x"}, []string{"three", "four"}},
		"a flag without one":       {[]string{"--token", "--verbose"}, nil},
		"no flag":                  {[]string{"run", "token", "five"}, nil},
		"the last":                 {[]string{"--token"}, nil},
		"none":                     {nil, nil},
		"others":                   {[]string{"--log-level=debug", "--port", "80", "/a/b:c", `C:\d`}, nil},
		"of a value with another":  {[]string{"--secret=a=b"}, []string{"a=b"}},
		"a variable":               {[]string{"-e", "API_KEY=six"}, []string{"six"}},
		"a variable in a flag":     {[]string{"--env=API_KEY=seven", "--env", "API_TOKEN=8"}, []string{"seven", "8"}},
		"a header":                 {[]string{"--header", "X-Api-Key: nine", "-H", "Authorization:Bearer ten"}, []string{"nine", "Bearer ten", "ten"}},
		"in a script":              {[]string{"-c", `A=b TOKEN="eleven" exec x`}, []string{"eleven"}},
		"references":               {[]string{"--token=${secret:T}", "--key", "$KEY", "-H", "Authorization: Bearer ${T}"}, nil},
		"an address":               {[]string{"postgres://me:twelve@host/db"}, []string{"twelve"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := mask.InArguments(test.args); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestInAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://host/mcp": "",
		"https://host:80/my-company-mcp-server-v2/b?mode=readonly&features=database,account": "",
		"https://one@host/":                                       "one",
		"https://me:t%40wo@host/":                                 "t%40wo t@wo",
		"https://host/mcp?apiKey=three&x=y#access_token=four":     "three four",
		"https://host/mcp?profile=0a1b2c3d4e5f60718293a4b5":       "0a1b2c3d4e5f60718293a4b5",
		"https://host/s/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9/mcp": "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
		"https://host/?token=${secret:T}":                         "",
		"/a/path?token=five":                                      "",
	} {
		if got := strings.Join(mask.InAddress(address), " "); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}
