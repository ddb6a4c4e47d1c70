package commandhost

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// The lines with curl in the documentation do what stands below them.
func TestDocumentedCalls(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text2, _ := strings.Cut(string(text), "## Trying it\n")
	section, _, _ := strings.Cut(text2, "\n## ")
	d := &desktop{t: t, host: newHost(t, shop, noTools{}, zerolog.Nop(), nil), box: "example"}
	call := regexp.MustCompile(`^\$ curl -s -H "\$AUTH" (?:--json '(.*)' )?"?\$DESK([^ "]*)"?$`)
	id := regexp.MustCompile(`[0-9a-f]{32}`)
	calls, lines := 0, strings.Split(section, "\n")
	for i, line := range lines {
		m := call.FindStringSubmatch(line)
		if m == nil {
			if strings.HasPrefix(line, "$ curl") {
				t.Errorf("this line is not understood: %s", line)
			}
			continue
		}
		calls++
		method := "POST"
		if m[1] == "" {
			method = "GET"
		}
		status, got := d.send(method, strings.ReplaceAll(m[2], "$S", d.session), strings.ReplaceAll(m[1], "'$S'", d.session))
		if d.session == "" {
			d.session = id.FindString(got)
		}
		pieces := strings.Split(id.ReplaceAllString(lines[i+1], "ID"), "…")
		for n, piece := range pieces {
			pieces[n] = regexp.QuoteMeta(piece)
		}
		want := regexp.MustCompile("^" + strings.Join(pieces, ".*") + "\n$")
		if answer := id.ReplaceAllString(got, "ID"); status != 200 || !want.MatchString(answer) {
			t.Errorf("%s\ngot  %d %s\nwant %s", line, status, answer, lines[i+1])
		}
	}
	if calls < 9 {
		t.Errorf("got %d calls in the documentation, want nine", calls)
	}
}
