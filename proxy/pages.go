package proxy

import (
	"fmt"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A legacy server may have its client visit pages before a request is made again, by an error. A modern client is asked
// that in a result: it makes the request again when its user has answered, and the server, which keeps no state for
// that, sees its request once more.

// pagesState is what the client brings along then. It tells the request from one that is made for the first time.
const pagesState = "pages"

// declines reports whether a request is made again whose user did not agree to visit a page.
func declines(c *call) bool {
	if state, _ := wire.Unquote(c.Bytes(c.State)); state != pagesState {
		return false
	}
	for _, answer := range wire.Members(c.Raw, c.Responses) {
		if action, _ := wire.Text(c.Raw, answer, "action"); action != "accept" {
			return true
		}
	}
	return false
}

// visited gives a reply of the server, or the question that it is to a modern client. The error says why that cannot be
// asked.
func (f *flight) visited(m *wire.Message) (*wire.Message, error) {
	if m.Kind != wire.Failure || !f.terms.AsksInResults() || !f.asks {
		return m, nil
	}
	questions, n := eras.Pages(m)
	if questions == nil {
		return m, nil
	}
	srv := f.server.Load()
	said, _ := wire.Text(m.Raw, m.Error, "message")
	wants := fmt.Sprintf("server %q of toolbox %q wants a page visited first: %s", srv.Name, srv.Toolbox, foreign.NewText(said))
	switch {
	case f.declined:
		return nil, fmt.Errorf("the user did not agree to what the call needs: %s", wants)
	case n > maxQuestions:
		return nil, fmt.Errorf("the server wants %d pages visited; at most %d are put to a client", n, maxQuestions)
	case eras.Lacking(f.terms.capabilities, "elicitation/create", []byte(`{"mode":"url"}`)) != "":
		return nil, eras.Undeclared("elicitation.url; "+wants, "elicitation", "url")
	}
	return withResult(m, asking(questions, pagesState)), nil
}
