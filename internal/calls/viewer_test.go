package calls_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/principal"
)

// Somebody sees their own calls in the toolboxes that they may use, whatever they choose among; names that differ in
// case alone are of different people.
func TestWhoMaySee(t *testing.T) {
	of := func(user, box string) calls.Call { return calls.Call{User: user, Toolbox: box} }
	for _, tt := range []struct {
		name string
		who  principal.Principal
		call calls.Call
		want bool
	}{
		{"one's own", principal.Principal{Name: "ada"}, of("ada", "dev"), true},
		{"another's", principal.Principal{Name: "ada"}, of("bob", "dev"), false},
		{"one's in another case", principal.Principal{Name: "ADA"}, of("ada", "dev"), false},
		{"nobody's", principal.Principal{Name: "ada"}, of("", "dev"), false},
		{"one's own elsewhere", principal.Principal{Name: "ada", Toolboxes: []string{"dev"}}, of("ada", "ops"), false},
		{"one's own in another case elsewhere", principal.Principal{Name: "ada", Toolboxes: []string{"dev"}}, of("ada", "DEV"), false},
		{"one's own there", principal.Principal{Name: "ada", Toolboxes: []string{"dev"}}, of("ada", "dev"), true},
		{"in no toolbox, of a limited one", principal.Principal{Name: "ada", Toolboxes: []string{"dev"}}, of("ada", ""), false},
		{"in no toolbox", principal.Principal{Name: "ada"}, of("ada", ""), true},
		{"another's, by an administrator", principal.Principal{Name: "root", Admin: true}, of("bob", "dev"), true},
		{"another's elsewhere, by a limited administrator", principal.Principal{Name: "root", Admin: true, Toolboxes: []string{"dev"}}, of("bob", "ops"), false},
	} {
		for _, choice := range []calls.Filter{{}, {User: tt.call.User, Toolbox: tt.call.Toolbox}} {
			choice.Viewer = &tt.who
			if got := choice.Wants(&tt.call); got != tt.want {
				t.Errorf("%s, with the choice %+v: got %v", tt.name, choice, got)
			}
		}
	}
	anybodys := of("bob", "ops")
	if all := (&calls.Filter{User: "BOB"}); !all.Wants(&anybodys) {
		t.Error("who may see all finds nobody in another case")
	}
}
