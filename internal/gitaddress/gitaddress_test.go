package gitaddress

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	long := strings.Repeat("r", maxRef)
	for text, want := range map[string]Repository{
		"git+https://example.com/team/flows.git":        {URL: "https://example.com/team/flows.git"},
		"git+https://example.com/flows#v1.2/rc_3":       {URL: "https://example.com/flows", Ref: "v1.2/rc_3"},
		"git+ssh://git@example.com/flows.git#main":      {URL: "ssh://git@example.com/flows.git", Ref: "main"},
		"git+file:///srv/flows#" + long:                 {URL: "file:///srv/flows", Ref: long},
		"https://example.com/flows":                     {},
		"git+http://example.com/flows":                  {},
		"git+file://flows":                              {},
		"git+https:///flows":                            {},
		"git+ssh://-oProxyCommand=x/flows":              {},
		"git+ssh://-l@example.com/flows":                {},
		"git+ssh://git:secret@example.com/flows":        {},
		"git+https://user@example.com/flows":            {},
		"git+https://example.com/flows?ref=main":        {},
		"git+https://example.com/fl ows":                {},
		"git+https://example.com/flows#--upload-pack":   {},
		"git+https://example.com/flows#a..b":            {},
		"git+https://example.com/flows#HEAD@{1}":        {},
		"git+https://example.com/flows#a%0Ab":           {},
		"git+https://example.com/flows#main%0A":         {},
		"git+https://example.com/flows#" + long + "r":   {},
		"git+https://example.com/flows#caf\u00e9":       {},
		"git+https://example.com/flows#" + "a%20b":      {},
		"git+https://example.com/flows#" + "a~1":        {},
		"git+https://example.com/flows#refs/heads/a^{}": {},
	} {
		got, err := Parse(text)
		if got != want || (err == nil) != (want != Repository{}) {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
}
