package oauth

import (
	"fmt"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// refusal is an error answer of an authorization server (RFC 6749, section 5.2).
type refusal struct {
	who    string
	code   foreign.Name
	text   foreign.Text
	advice string
}

func (e *refusal) Error() string {
	said := fmt.Sprintf("%s says %s", e.who, e.code)
	if !e.text.IsEmpty() {
		said += fmt.Sprintf(": %q", e.text)
	}
	if e.advice != "" {
		said += "; " + e.advice
	}
	return said
}

// newRefusal makes what an authorization server said an error.
func newRefusal(code, text string) *refusal {
	return &refusal{who: "the authorization server", code: foreign.NewName(code), text: foreign.NewText(text)}
}
