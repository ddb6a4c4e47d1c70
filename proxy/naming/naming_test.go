package naming_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

var (
	one = &toolbox.Server{Toolbox: "box", Name: "one"}
	two = &toolbox.Server{Toolbox: "box", Name: "two"}
)

// directory names the tools of both servers, which may keep their names where plain is true.
func directory(c *naming.Claims, plain bool, ofOne, ofTwo string) *naming.Directory {
	var items []naming.Route
	for i, keys := range []string{ofOne, ofTwo} { // in the order of the toolbox
		for _, key := range strings.Fields(keys) {
			items = append(items, naming.Route{Server: []*toolbox.Server{one, two}[i], Key: key, Name: fmt.Appendf(nil, "%q", key)})
		}
	}
	spaces := naming.NewSpaces(false, []config.Toolbox{{Name: "box", Servers: []config.Server{{Name: "one"}, {Name: "two"}}}})
	return naming.NewDirectory(toolbox.Tools, spaces, c, items, func(*toolbox.Server) bool { return plain })
}

// What servers call their tools is told at an open: it leads to no other server after that, whether it was used or not.
func TestToldNamesKeepTheirMeaning(t *testing.T) {
	c := naming.NewClaims()
	directory(c, false, "read", "write").Give("box")
	later := directory(c, false, "other", "read")
	if to, err := later.Meant(naming.Want{Toolbox: "box", Tool: "read"}); err == nil || !strings.Contains(err.Error(), `tool of server "one"`) {
		t.Errorf("got %+v and %v, want that it was another's", to, err)
	}
	if to, err := later.Meant(naming.Want{Toolbox: "box", Tool: "two/read"}); err != nil || to.Server != two {
		t.Errorf("got %+v and %v, want that of two", to, err)
	}
	// Nobody is told to use a name that leads nowhere.
	both := directory(c, false, "other read", "read")
	if _, err := both.Meant(naming.Want{Toolbox: "box", Tool: "read"}); err == nil || !strings.Contains(err.Error(), `"one/read" or "two/read"`) {
		t.Errorf("got %v, want both in full", err)
	}
	if got := directory(c, false, "other", "read").Shown[naming.Identity{Server: two, Key: "read"}]; got != "box__two__read" {
		t.Errorf("clients see %q", got)
	}
}

// A server that has had too many names gives no more, and takes none from others.
func TestNamesWithoutEnd(t *testing.T) {
	c := naming.NewClaims()
	many := func(from int) string {
		var b strings.Builder
		for i := range 10000 {
			fmt.Fprintf(&b, "t%d ", from+i)
		}
		return b.String()
	}
	if !directory(c, true, many(0), "").Give("") {
		t.Fatal("as many as a list may have are too many")
	}
	next := directory(c, true, "next", "mine")
	if got := next.Shown[naming.Identity{Server: one, Key: "next"}]; got != "box__one__next" {
		t.Errorf("clients see %q, want the full name", got)
	}
	if got := next.Shown[naming.Identity{Server: two, Key: "mine"}]; got != "mine" || !next.Give("") {
		t.Errorf("clients see %q of the other server, want its own name", got)
	}
	if to, err := next.Meant(naming.Want{Tool: "next"}); err == nil || !strings.Contains(err.Error(), `"box__one__next"`) {
		t.Errorf("got %+v and %v, want the full name", to, err)
	}
	directory(c, false, many(0), "").Give("box")
	if to, err := directory(c, false, "next", "mine").Meant(naming.Want{Toolbox: "box", Tool: "next"}); err == nil || !strings.Contains(err.Error(), `"one/next"`) {
		t.Errorf("got %+v and %v, want the full name", to, err)
	}
}

// A name that models do not take is seen by none, for one in a list costs the whole list. Who knows it may use it.
func TestNamesThatModelsTake(t *testing.T) {
	d := directory(naming.NewClaims(), true, "read.file Read-2 é tools/list a\u200bb", "")
	for _, to := range d.Shown {
		if !config.IsToolName(to) {
			t.Errorf("clients see %q", to)
		}
	}
	for _, key := range []string{"read.file", "Read-2"} {
		if got := d.Shown[naming.Identity{Server: one, Key: key}]; got != key {
			t.Errorf("clients see %q, want %q", got, key)
		}
	}
	for _, key := range []string{"é", "tools/list", d.Shown[naming.Identity{Server: one, Key: "é"}]} {
		if to, err := d.Meant(naming.Want{Tool: key}); err != nil || to.Server != one {
			t.Errorf("%q: got %+v and %v, want the tool of the server", key, to, err)
		}
	}
}

// places says where the resources of both servers are.
func places(c *naming.Claims, ofOne, ofTwo string) *naming.Places {
	var items []naming.Identity
	for _, key := range strings.Fields(ofOne) {
		items = append(items, naming.Identity{Server: one, Key: key})
	}
	for _, key := range strings.Fields(ofTwo) {
		items = append(items, naming.Identity{Server: two, Key: key})
	}
	return naming.NewPlaces(c, nil, items, nil)
}

// What led to a server leads to no other, whoever lists it later.
func TestPlacesKeepTheirMeaning(t *testing.T) {
	c := naming.NewClaims()
	first := places(c, "x://host/listed y://host/alone", "")
	first.Give()
	if to, err := first.Find("x://host/made", nil); err != nil || to != one {
		t.Fatalf("got %v and %v, want one", to, err)
	}
	later := places(c, "z://host/a", "x://host/listed x://host/made x://host/new y://host/alone")
	for _, uri := range []string{"x://host/listed", "x://host/made", "x://host/new", "x://host/other", "y://host/alone"} {
		if to, err := later.Find(uri, nil); err == nil {
			t.Errorf("%s leads to %s, and was in a place of another", uri, to.Name)
		}
	}
	for _, uri := range []string{"x://host/listed", "x://host/new", "y://host/alone"} {
		if _, ok := later.Alias(two, uri); !ok {
			t.Errorf("%s is listed as if it led there", uri)
		}
	}
	if to, err := places(c, "", "y://host/near").Find("y://host/alone", nil); err == nil {
		t.Errorf("y://host/alone leads to %s, which has something near it", to.Name)
	}
	if later.Knows(two, "x://host/listed") || later.Knows(two, "x://host/other") || !later.Knows(one, "x://host/other") {
		t.Error("a server knows what was in a place of another")
	}
}

// A page that a client knows by its uri stays that of its server when another comes that lists the same.
func TestPagesStay(t *testing.T) {
	c := naming.NewClaims()
	places(c, "ui://page", "").Give()
	later := places(c, "ui://page", "ui://page")
	if to, err := later.Find("ui://page", nil); err != nil || to != one {
		t.Errorf("got %v and %v, want one", to, err)
	}
	_, first := later.Alias(one, "ui://page")
	if _, second := later.Alias(two, "ui://page"); first || !second {
		t.Errorf("got aliases %t and %t, want one for the second alone", first, second)
	}
}

// A uri that two servers list, or could make, is neither's. Schemes and authorities mean the same in capitals.
func TestPlacesOfSeveral(t *testing.T) {
	for _, tt := range []struct{ ofOne, ofTwo, uri, want string }{
		{"x://host/a", "x://host/a", "x://host/a", ""},
		{"x://host/a", "x://host/b", "x://host/a", "one"},
		{"x://host/a", "x://host/b", "x://host/c", ""},
		{"x://host/a", "x://other/b", "x://host/c", "one"},
		{"X://HOST/a", "x://host/b", "x://host/c", ""},
		{"X://HOST/a", "x://other/b", "x://host/c", "one"},
		{"x://host/{p}", "y://host/b", "x://host/c", "one"},
		{"x://{host}/a", "y://host/b", "x://any/a", "one"},
		{"x://{host}/a", "x://host/b", "x://host/a", ""},
		{"x:{all}", "x://host/b", "x://host/a", ""},
	} {
		p := places(naming.NewClaims(), tt.ofOne, tt.ofTwo)
		to, err := p.Find(tt.uri, nil)
		if got := map[*toolbox.Server]string{one: "one", two: "two"}[to]; got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s of %s beside %s: got %q and %v, want %q", tt.uri, tt.ofOne, tt.ofTwo, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		ofOne, ofTwo string
		alias        bool
	}{
		{"x://host/{p}", "y://host/b", false},
		{"x://host/{p}", "x://host/b", true},
		{"x://{host}/a", "y://host/b", false},
		{"x://{host}/a", "x://host/b", true},
	} {
		if _, alias := places(naming.NewClaims(), tt.ofOne, tt.ofTwo).Alias(one, tt.ofOne); alias != tt.alias {
			t.Errorf("%s beside %s: got an alias %t, want %t", tt.ofOne, tt.ofTwo, alias, tt.alias)
		}
	}
	both := places(naming.NewClaims(), "x://host/a", "x://host/a")
	if both.Knows(one, "x://host/a") || both.Knows(two, "x://host/a") {
		t.Error("what two servers list is one's by itself")
	}
}

// What is no uri is listed under one, for a client that wants uris refuses the whole list.
func TestNoURIs(t *testing.T) {
	p := places(naming.NewClaims(), "notes a%zz http:// x:y file:///a mailto:a@b http://h x:{+path} c:\\dir", "")
	for _, uri := range []string{"notes", "a%zz", "http://"} {
		alias, ok := p.Alias(one, uri)
		if own, leads := naming.OwnURI(naming.AddressOf(one), alias); !ok || alias != "workbench://box/one/"+uri || own != uri || !leads {
			t.Errorf("%s is listed as %q, which is %q of the server", uri, alias, own)
		}
		if to, err := p.Find(uri, nil); err != nil || to != one {
			t.Errorf("%s by itself leads to %v (%v)", uri, to, err)
		}
	}
	for _, uri := range []string{"x:y", "file:///a", "mailto:a@b", "http://h", "x:{+path}", `c:\dir`} {
		if alias, ok := p.Alias(one, uri); ok {
			t.Errorf("%s is listed as %q", uri, alias)
		}
	}
}
