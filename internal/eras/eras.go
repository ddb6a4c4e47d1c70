// Package eras puts a message of one protocol era into the terms of the other.
//
// The legacy era is the revisions up to 2025-11-25, which begin with initialize; the modern one is 2026-07-28, whose
// requests carry in their _meta what the handshake said. The package gives edits (see [wire.Splice]) to a message's own
// bytes, and leaves alone what is the same in both eras.
package eras

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Members of _meta that revision 2026-07-28 has and those before it have not.
const (
	Version      = mcp.MetaKeyProtocolVersion
	Info         = mcp.MetaKeyClientInfo
	Capabilities = mcp.MetaKeyClientCapabilities
	LogLevel     = mcp.MetaKeyLogLevel
	Subscription = mcp.MetaKeySubscriptionID
	ServerInfo   = mcp.MetaKeyServerInfo
)

// Codes of errors: NoResource is the one that the legacy era has for a resource that there is not, for which the modern
// one says that the params are invalid; PagesRequired has pages visited before the request is made again, for which the
// modern era has a result (see [Pages]); the others refuse a header that does not say what the message does, a request
// that needs what its client has not declared, and a revision.
const (
	NoResource         = mcp.RESOURCE_NOT_FOUND
	PagesRequired      = mcp.URL_ELICITATION_REQUIRED
	HeaderMismatch     = mcp.HEADER_MISMATCH
	MissingCapability  = mcp.MISSING_REQUIRED_CLIENT_CAPABILITY
	UnsupportedVersion = mcp.UNSUPPORTED_PROTOCOL_VERSION
)

// ToLegacy gives the edits that make a request or a notification to a server one of the legacy era. params and meta are
// where its params and their _meta stand, if it has them; task says what becomes of the params' member of that name.
func ToLegacy(raw []byte, params, meta wire.Span, task Augment) []wire.Edit {
	names := []string{"inputResponses", "requestState", "task"}
	var add []byte
	switch task {
	case Keep:
		names = names[:2]
	case Ask:
		add = []byte(`"task":{}`)
	}
	edits := without(raw, params, add, names...)
	edits = append(edits, without(raw, meta, nil, Version, Info, Capabilities, LogLevel)...)
	return sorted(edits)
}

// ToModern gives the edits that make a request to a server one of the modern era: members are what its _meta is to say
// of the client, in place of what it says. Whether there is to be a task is for a modern server to say, so that a
// request does not ask for one.
func ToModern(raw []byte, params, meta wire.Span, members []byte) []wire.Edit {
	object := append(append([]byte(`"_meta":{`), members...), '}')
	switch {
	case isObject(raw, meta):
		edits := without(raw, meta, members, Version, Info, Capabilities, LogLevel)
		return sorted(append(edits, without(raw, params, nil, "task")...))
	case meta.Present():
		return sorted(append(without(raw, params, nil, "task"), wire.Edit{Span: meta, New: object[len(`"_meta":`):]}))
	case params.Present():
		return without(raw, params, object, "task")
	default:
		return []wire.Edit{{Span: wire.At(len(raw) - 1), New: append(append([]byte(`,"params":{`), object...), '}')}}
	}
}

// ResultToModern gives the edits that make a legacy server's result, which stands at result, one of the modern era: it
// says its type and, if it is whole and answers a request that may be cached, how long it may be kept.
func ResultToModern(raw []byte, result wire.Span, cacheable bool) []wire.Edit {
	var have [3]wire.Span
	if !isObject(raw, result) || wire.Find(raw, result, []string{"resultType", "ttlMs", "cacheScope"}, have[:]) != nil {
		return nil
	}
	var text []byte
	add := func(present bool, member string) {
		if !present && text != nil {
			text = append(text, ',')
		}
		if !present {
			text = append(text, member...)
		}
	}
	add(have[0].Present(), `"resultType":"complete"`)
	if kind, _ := wire.Unquote(raw[have[0].Start:have[0].End]); cacheable && (kind == "" || kind == "complete") {
		add(have[1].Present(), `"ttlMs":0`)
		add(have[2].Present(), `"cacheScope":"private"`)
	}
	return without(raw, result, text)
}

// ResultToLegacy gives the edits that make a modern server's result one of the legacy era, whose structured content is
// an object: what is other stands in the content too, as text.
func ResultToLegacy(raw []byte, result wire.Span, cacheable bool) []wire.Edit {
	names := []string{"resultType", "ttlMs", "cacheScope"}
	if !cacheable {
		names = names[:1]
	}
	var at [3]wire.Span
	if wire.Find(raw, result, []string{"_meta", "structuredContent", "content"}, at[:]) != nil {
		at = [3]wire.Span{}
	}
	meta, structured, content := at[0], at[1], at[2]
	var text []byte
	if structured.Present() && !isObject(raw, structured) {
		names = append(names, "structuredContent")
		if isEmptyArray(raw, content) { // a server should have given it as text too, and has not
			names = append(names, "content")
			piece := wire.NewObject(nil).Text("type", "text").Text("text", string(raw[structured.Start:structured.End])).End()
			text = append(append([]byte(`"content":[`), piece...), ']')
		}
	}
	edits := without(raw, result, text, names...)
	return sorted(append(edits, without(raw, meta, nil, ServerInfo)...))
}

// isEmptyArray reports whether what stands at in is no value at all or an array of nothing.
func isEmptyArray(raw []byte, in wire.Span) bool {
	return !in.Present() || raw[in.Start] == '[' && len(bytes.TrimSpace(raw[in.Start+1:in.End-1])) == 0
}

// OutputToLegacy gives the edits that make the output schema of a tool one of the legacy era, which is of an object. A
// schema without a type gets that one, since structured content is nothing else there; one of another type, or of
// several of which one is another, is left out: clients fail a call whose result lacks what the schema promises.
func OutputToLegacy(definition []byte) []wire.Edit {
	whole := wire.Whole(definition)
	schema, _ := wire.FindPath(definition, whole, "outputSchema")
	if !isObject(definition, schema) || wire.Get(definition, schema, "type") != nil || isOfOther(definition, schema, schema, new(int)) {
		return without(definition, whole, nil, "outputSchema")
	}
	return without(definition, schema, []byte(`"type":"object"`))
}

// maxParts is how many parts of an output schema are looked at: they may refer to each other.
const maxParts = 100

// isOfOther reports whether the schema at in, which is a part of root, says that it may be of something else than an
// object. seen counts the parts that were looked at.
func isOfOther(raw []byte, root, in wire.Span, seen *int) bool {
	var at [4]wire.Span
	if *seen++; *seen > maxParts || !isObject(raw, in) || wire.Find(raw, in, []string{"type", "anyOf", "oneOf", "$ref"}, at[:]) != nil {
		return false
	}
	if at[0].Present() {
		return string(raw[at[0].Start:at[0].End]) != `"object"`
	}
	for _, parts := range at[1:3] {
		for part := range wire.Elements(raw, parts) {
			if isOfOther(raw, root, part, seen) {
				return true
			}
		}
	}
	ref, _ := wire.Unquote(raw[at[3].Start:at[3].End])
	path, local := strings.CutPrefix(ref, "#/")
	part, err := wire.FindPath(raw, root, strings.Split(path, "/")...)
	return local && err == nil && isOfOther(raw, root, part, seen)
}

// NoticeToLegacy gives the edits that make a modern server's notification one of the legacy era.
func NoticeToLegacy(raw []byte, params wire.Span) []wire.Edit {
	meta, _ := wire.FindPath(raw, params, "_meta")
	return without(raw, meta, nil, Subscription)
}

// withCode gives the edits that put another code for one that an error may not have in an era.
func withCode(m *wire.Message, to Era) []wire.Edit {
	span, err := wire.FindPath(m.Raw, m.Error, "code")
	code, numeric := jsontype.Int(m.Bytes(span))
	if err != nil || !numeric || to.Code(code) == code {
		return nil
	}
	return []wire.Edit{{Span: span, New: strconv.AppendInt(nil, int64(to.Code(code)), 10)}}
}

// Cacheable reports whether the results of a method say in the modern era how long they may be kept.
func Cacheable(method string) bool {
	switch method {
	case "resources/read", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "skills/list", "skills/get":
		return true
	}
	return false
}

// Without gives the edits that take members of those names out of the object at in.
func Without(raw []byte, in wire.Span, names ...string) []wire.Edit {
	return without(raw, in, nil, names...)
}

// WithSubscription gives the edits that have a notification's _meta, which is a member of the object at in, name a
// subscription by the token of its id.
func WithSubscription(raw []byte, in wire.Span, id []byte) []wire.Edit {
	return withMeta(raw, in, Subscription, id)
}

// OfSubscription is the _meta of a notification that belongs to a subscription, by the token of its id.
func OfSubscription(id []byte) []byte { return wire.NewObject(nil).Raw(Subscription, id).End() }

// SubscriptionEnd is the result of a subscription that ends in good order.
func SubscriptionEnd(id []byte) []byte {
	return wire.NewObject(nil).Text("resultType", "complete").Raw("_meta", OfSubscription(id)).End()
}

// withMeta gives the edits that have the _meta in the object at in say one thing, in place of what it says of that.
// What is no object is replaced.
func withMeta(raw []byte, in wire.Span, name string, value []byte) []wire.Edit {
	member := append([]byte(`"`+name+`":`), value...)
	if meta, _ := wire.FindPath(raw, in, "_meta"); isObject(raw, meta) {
		return without(raw, meta, member, name)
	}
	return without(raw, in, append(append([]byte(`"_meta":{`), member...), '}'), "_meta")
}

// without gives the edits that take members of those names out of the object at in, and put others, as text, at its
// beginning.
func without(raw []byte, in wire.Span, add []byte, names ...string) []wire.Edit {
	if !isObject(raw, in) {
		return nil
	}
	var edits []wire.Edit
	kept, last := 0, 0 // where the last member that stays ends, and the last of all
	begins, goes := 0, false
	for key, value := range wire.Members(raw, in) {
		last = value.End
		if isOneOf(raw[key.Start:key.End], names) {
			if !goes {
				begins, goes = key.Start, true
			}
			continue
		}
		if goes {
			edits = append(edits, wire.Edit{Span: wire.Span{Start: begins, End: key.Start}})
			goes = false
		}
		if kept = value.End; len(names) == 0 {
			break // that there is one is all there is to know
		}
	}
	if goes {
		if kept > 0 {
			begins = kept // with the comma before it
		}
		edits = append(edits, wire.Edit{Span: wire.Span{Start: begins, End: last}})
	}
	if len(add) == 0 {
		return edits
	}
	text := bytes.Clone(add)
	if kept > 0 {
		text = append(text, ',')
	}
	return append([]wire.Edit{{Span: wire.At(in.Start + 1), New: text}}, edits...)
}

// isOneOf reports whether a token is one of some names. It allocates nothing for a token without escapes: every request
// of a client has its members looked at.
func isOneOf(token []byte, names []string) bool {
	if bytes.IndexByte(token, '\\') >= 0 {
		name, _ := wire.Unquote(token)
		return slices.Contains(names, name)
	}
	for _, name := range names {
		if string(token[1:len(token)-1]) == name {
			return true
		}
	}
	return false
}

func isObject(raw []byte, in wire.Span) bool { return in.Present() && raw[in.Start] == '{' }

// sorted puts edits of two objects, of which one may be within the other, into the order of their places.
func sorted(edits []wire.Edit) []wire.Edit {
	slices.SortStableFunc(edits, func(a, b wire.Edit) int { return a.Span.Start - b.Span.Start })
	return edits
}

// InsertMember gives the edit that puts a member at the beginning of an object.
func InsertMember(raw []byte, object wire.Span, member []byte) wire.Edit {
	for range wire.Members(raw, object) {
		member = append(member, ',')
		break
	}
	return wire.Edit{Span: wire.At(object.Start + 1), New: member}
}
