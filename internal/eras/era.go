package eras

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Era is the rules by which a client and a server speak: those of one revision of the protocol, or of several that
// differ in little. Whoever has to do with two eras asks them what their rules are, and never which they are.
type Era uint8

// The eras. Unknown is that of a server with which nothing is agreed on yet: it answers no to every question.
const (
	Unknown Era = iota
	Legacy
	Modern
)

// rules are the answers of an era.
type rules struct {
	name       string
	revisions  []string // newest first
	lacks      []string // methods of other eras, of requests and notifications in either direction
	noResource int      // the code of the error for a resource that there is not

	handshake, listsMayChange, asksInResults, endsStreams, typesResults, decidesTasks bool
}

var known = [...]rules{
	Unknown: {noResource: NoResource},
	Legacy: {
		name:       "legacy",
		revisions:  mcp.LegacyProtocolVersions(),
		lacks:      []string{"server/discover", "subscriptions/listen", "notifications/subscriptions/acknowledged", "tasks/update", "notifications/tasks"},
		noResource: NoResource,

		handshake: true, listsMayChange: true,
	},
	Modern: {
		name:      "modern",
		revisions: []string{mcp.ProtocolVersion20260728},
		lacks: []string{
			"initialize", "notifications/initialized", "ping", "logging/setLevel", "notifications/roots/list_changed",
			"resources/subscribe", "resources/unsubscribe", "tasks/list", "tasks/result",
			"notifications/elicitation/complete", "notifications/tasks/status",
		},
		noResource: wire.CodeInvalidParams,

		asksInResults: true, endsStreams: true, typesResults: true, decidesTasks: true,
	},
}

// Of gives the era of a revision. A revision that is not spoken here is answered by the rules of the newest era without
// a handshake that began before it, which has an error for it; an older one is of no era.
func Of(revision string) Era {
	for i, r := range slices.Backward(known[:]) {
		if e := Era(i); slices.Contains(r.revisions, revision) || e.IsStateless() && revision > r.revisions[0] {
			return e
		}
	}
	return Unknown
}

// Revisions are those that are spoken here, newest first.
func Revisions() (all []string) {
	for _, r := range slices.Backward(known[:]) {
		all = append(all, r.revisions...)
	}
	return all
}

// Newest is the newest revision that is spoken here.
func Newest() string { return known[len(known)-1].revisions[0] }

// Shared gives the newest revision that is spoken here and that others speak too, "" for none.
func Shared(others []string) string {
	for _, r := range Revisions() {
		if slices.Contains(others, r) {
			return r
		}
	}
	return ""
}

// IsSpoken reports whether a revision is spoken here.
func IsSpoken(revision string) bool { return slices.Contains(Revisions(), revision) }

// Unsupported refuses a revision that is not spoken here, and names those that are.
func Unsupported(revision string) *wire.Error {
	data := wire.MustEncode(struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{Revisions(), foreign.NewName(revision).String()})
	return &wire.Error{Code: UnsupportedVersion, Message: "Unsupported protocol version", Data: data}
}

// Lacks refuses what a client asks for that has not declared an extension.
func Lacks(extension string) *wire.Error {
	return Undeclared("the extension "+extension, "extensions", extension)
}

// Undeclared refuses what a client asks for that has not declared the capability at a path; what names it.
func Undeclared(what string, path ...string) *wire.Error {
	var needs any = struct{}{}
	for _, name := range slices.Backward(path) {
		needs = map[string]any{name: needs}
	}
	data := wire.MustEncode(map[string]any{"requiredCapabilities": needs})
	return &wire.Error{Code: MissingCapability, Message: "Missing required client capability: " + what, Data: data}
}

// String names the era.
func (e Era) String() string { return known[e].name }

// Has reports whether the era has a method, of a request or a notification in either direction. A method that no era
// defines may be an extension, and is for all of them.
func (e Era) Has(method string) bool { return !slices.Contains(known[e].lacks, method) }

// HasHandshake reports whether a session begins with initialize, and what was said then holds for what follows.
func (e Era) HasHandshake() bool { return known[e].handshake }

// IsStateless reports whether each request says in its _meta what initialize says in the other eras.
func (e Era) IsStateless() bool { return e != Unknown && !known[e].handshake }

// ListsMayChange reports whether a client sees lists that are other than before as a side effect of a call.
func (e Era) ListsMayChange() bool { return known[e].listsMayChange }

// AsksInResults reports whether a server asks its client in the result of a request, which is then made again with the
// answer, and not by a request of its own.
func (e Era) AsksInResults() bool { return known[e].asksInResults }

// MayAskInResults reports the same of a server that may turn out to be of any era where it is not known of which.
func (e Era) MayAskInResults() bool { return e == Unknown || known[e].asksInResults }

// EndsStreams reports whether over HTTP a request is cancelled by closing its stream.
func (e Era) EndsStreams() bool { return known[e].endsStreams }

// DecidesTasks reports whether tasks are an extension, by which the server decides what becomes a task; else the
// request of the client asks for one.
func (e Era) DecidesTasks() bool { return known[e].decidesTasks }

// NoResource is the code of the error for a resource that there is not.
func (e Era) NoResource() int { return known[e].noResource }

// Code gives the code that an error has in the era, by the one that it has in another: the modern era may use none of
// those that only the legacy one has.
func (e Era) Code(code int) int {
	switch {
	case code == NoResource:
		return known[e].noResource
	case code == PagesRequired && known[e].asksInResults:
		return wire.CodeInternal
	}
	return code
}

// TypesResults reports whether a result says what it is, in resultType.
func (e Era) TypesResults() bool { return known[e].typesResults }

// Result begins a result that is made here, and may be kept for no time if it is of a method whose results may be kept.
func (e Era) Result(kept bool) wire.Object {
	switch {
	case !known[e].typesResults:
		return wire.NewObject(nil)
	case kept:
		return wire.Object(`{"resultType":"complete","ttlMs":0,"cacheScope":"private",`)
	}
	return wire.Object(`{"resultType":"complete",`)
}

// Reply gives the edits that make the reply of a server of the era the reply to a client of another; cacheable says
// that it answers a request whose results may be kept.
func (e Era) Reply(to Era, m *wire.Message, cacheable bool) []wire.Edit {
	switch types := known[to].typesResults; {
	case m.Kind == wire.Failure:
		return withCode(m, to)
	case m.Kind != wire.Result || known[e].typesResults == types:
		return nil
	case types:
		return ResultToModern(m.Raw, m.Result, cacheable)
	}
	return ResultToLegacy(m.Raw, m.Result, cacheable)
}
