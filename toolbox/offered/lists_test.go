package offered_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/toolbox/offered"
)

// A list is read again when it changes. Where a page of it cannot be had then, what stood on that page before is not
// lost.
func TestListThatIsCut(t *testing.T) {
	lists := offered.New(offered.Origin{Account: account.New(account.Server, nil)}, offered.Rules{})
	read := func(tools ...string) {
		lists.Store(offered.Tools, offered.Read(offered.Tools, lists.Room(offered.Tools), func(offered.Item) bool { return true },
			func(_ string, _ []byte, take func([]byte) (offered.Page, error)) (offered.Page, error) {
				name, next := tools[0], ""
				if tools = tools[1:]; len(tools) > 0 {
					next = fmt.Sprintf(`,"nextCursor":"to %d"`, len(tools))
				}
				if name == "" {
					return offered.Page{}, errors.New("not now")
				}
				return take(fmt.Appendf(nil, `{"tools":[{"name":%q,"inputSchema":{"type":"object"}}]%s}`, name, next))
			}))
	}
	for _, tt := range []struct{ pages, want []string }{
		{[]string{"a", "b", "c"}, []string{"a", "b", "c"}},
		{[]string{"a", ""}, []string{"a", "b", "c"}},
		{[]string{"d", "b", ""}, []string{"d", "b", "a", "c"}},
		{[]string{"a", "b"}, []string{"a", "b"}},
	} {
		read(tt.pages...)
		var got []string
		for _, it := range lists.Items(offered.Tools) {
			got = append(got, it.Key.Verbatim())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("after the pages %q: got %q, want %q", tt.pages, got, tt.want)
		}
	}
}

// Some servers list their tools in another order each time. That is no news, and clients see them in the first one.
func TestToolsInAnotherOrder(t *testing.T) {
	lists := offered.New(offered.Origin{Account: account.New(account.Server, nil)}, offered.Rules{})
	for _, tt := range []struct {
		list    string
		differs bool
		want    string
	}{
		{`{"name":"a"},{"name":"b"},{"name":"c"}`, true, `{"name":"a"},{"name":"b"},{"name":"c"}`},
		{`{"name":"c"},{"name":"a"},{"name":"b"}`, false, `{"name":"a"},{"name":"b"},{"name":"c"}`},
		{`{"name":"c","x":1},{"name":"a"},{"name":"b"}`, true, `{"name":"c","x":1},{"name":"a"},{"name":"b"}`},
		{`{"name":"b"},{"name":"a"}`, true, `{"name":"b"},{"name":"a"}`},
	} {
		differs := lists.Store(offered.Tools, offered.Read(offered.Tools, lists.Room(offered.Tools), func(offered.Item) bool { return true },
			func(_ string, _ []byte, take func([]byte) (offered.Page, error)) (offered.Page, error) {
				return take([]byte(`{"tools":[` + strings.ReplaceAll(tt.list, `"}`, `","inputSchema":{"type":"object"}}`) + `]}`))
			}))
		var got []string
		for _, it := range lists.Items(offered.Tools) {
			got = append(got, strings.ReplaceAll(string(it.Raw), `,"inputSchema":{"type":"object"}`, ""))
		}
		if strings.Join(got, ",") != tt.want || differs != tt.differs {
			t.Errorf("after %s: got %s, differs %v; want %s, %v", tt.list, got, differs, tt.want, tt.differs)
		}
	}
}

// What has changed is told with the answers to other things: a server that changes all it has, under the longest of
// names, does not fill them.
func TestNotesOfChangesAreShort(t *testing.T) {
	lists := offered.New(offered.Origin{Account: account.New(account.Server, nil)}, offered.Rules{})
	for _, letter := range []string{"a", "b"} {
		lists.Store(offered.Tools, offered.Read(offered.Tools, lists.Room(offered.Tools), func(offered.Item) bool { return true },
			func(_ string, _ []byte, take func([]byte) (offered.Page, error)) (offered.Page, error) {
				var tools []string
				for i := range 50 {
					tools = append(tools, fmt.Sprintf(`{"name":"%03d%s","inputSchema":{"type":"object"}}`, i, strings.Repeat(letter, 300)))
				}
				return take([]byte(`{"tools":[` + strings.Join(tools, ",") + `]}`))
			}))
	}
	const most = 1200
	got := lists.Changes(nil)
	if len(got) != 1 || !strings.Contains(got[0], "50 added") || !strings.Contains(got[0], "50 gone") || len(got[0]) > most {
		t.Errorf("got %q, want one note of at most %d bytes on 50 tools added and 50 gone", got, most)
	}
}

// Entries for which there is no room are counted on the page that has them; of the pages after it nobody knows how many
// there are.
func TestWhatIsLeftOutIsSaid(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for next, want := range map[string]string{
		"":                  "tools/list: 2 entries were left out: of the lists",
		`,"nextCursor":"b"`: "tools/list: 2 entries and all pages after them were left out: of the lists",
	} {
		r := offered.Read(offered.Tools, 500, func(offered.Item) bool { return true },
			func(_ string, _ []byte, take func([]byte) (offered.Page, error)) (offered.Page, error) {
				return take(fmt.Appendf(nil, `{"tools":[{"name":"a"},{"name":"b%s"},{"name":"c%s"}]%s}`, long, long, next))
			})
		if len(r.Items) != 1 || r.Err == nil || !strings.HasPrefix(r.Err.Error(), want) {
			t.Errorf("got %d entries and %v, want one and %s", len(r.Items), r.Err, want)
		}
	}
}
