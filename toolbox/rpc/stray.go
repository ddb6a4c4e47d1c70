package rpc

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// strayGrace is how long a server that sent a reply to nobody may take to send the one that is waited for.
const strayGrace = time.Second

// strayKept is how much of such a reply is told, in bytes.
const strayKept = 200

// looksLikeReply reports whether a line that is no valid message was meant to be a reply, and the token of its id if it
// has one.
func looksLikeReply(line []byte, err error) (id []byte, is bool) {
	bad, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return nil, false
	}
	if bad.Code == wire.CodeParse {
		// A line that was cut is left to the end of its process, which says more.
		has := func(text string) bool { return bytes.Contains(line, []byte(text)) }
		whole := bytes.HasPrefix(line, []byte("{")) && bytes.HasSuffix(line, []byte("}"))
		return wire.Ends(line).ID(), whole && has(`"jsonrpc"`) && (has(`"result"`) || has(`"error"`))
	}
	// The line is JSON, and a line of a log may be JSON too.
	in := wire.Whole(line)
	for first := range wire.Elements(line, in) {
		in = first // a batch
		break
	}
	has := make(map[string]wire.Span)
	for key, value := range wire.Members(line, in) {
		name, _ := wire.Unquote(line[key.Start:key.End])
		has[strings.ToLower(name)] = value
	}
	_, ours := has["jsonrpc"]
	_, result := has["result"]
	_, failure := has["error"]
	if _, call := has["method"]; call && !(ours && (result || failure)) {
		return nil, false
	}
	if id = bad.ID; id == nil && has["id"].Present() {
		id = line[has["id"].Start:has["id"].End]
	}
	return id, id != nil && (ours || result) || ours && (result || failure)
}

// brokenRequest returns the token of the id of a line that was meant to be a request and breaks a rule of JSON-RPC, nil
// for any other.
func brokenRequest(line []byte, err error) []byte {
	bad, ok := errors.AsType[*wire.Error](err)
	if !ok || bad.Code != wire.CodeInvalidRequest {
		return nil
	}
	get := func(key string) []byte { return wire.Get(line, wire.Whole(line), key) }
	if get("jsonrpc") == nil || get("method") == nil || get("result") != nil || get("error") != nil {
		return nil
	}
	return bad.ID
}
