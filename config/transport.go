package config

import "slices"

// Transport is the way to a server.
type Transport string

// The transports.
const (
	TransportStdio   Transport = "stdio"   // a child process, JSON-RPC lines on its stdin and stdout
	TransportHTTP    Transport = "http"    // streamable HTTP
	TransportSSE     Transport = "sse"     // HTTP with server-sent events, of revision 2024-11-05
	TransportBuiltin Transport = "builtin" // inside workbench itself
)

// way is a row of the table of transports.
type way struct {
	transport Transport
	key       string   // says where the server is
	spelled   []string // as files of other clients spell it besides
}

// ways are the transports; the first with a key is the one that is meant where nothing is said. The spelling "remote"
// of other clients is not among them: it leaves open which of the two remote transports it is.
func ways() []way {
	return []way{
		{TransportStdio, "command", []string{"local"}},
		{TransportHTTP, "url", []string{"streamable-http", "streamableHttp", "streamable_http"}},
		{TransportSSE, "url", nil},
		{TransportBuiltin, "builtin", nil},
	}
}

// Transports returns the names of the transports whose servers have a key, "" for all.
func Transports(key string) (names []string) {
	for _, w := range ways() {
		if key == "" || w.key == key {
			names = append(names, string(w.transport))
		}
	}
	return names
}

// transportOf reads a transport as files of other clients spell it; "" if it is none.
func transportOf(spelling string) Transport {
	for _, w := range ways() {
		if spelling == string(w.transport) || slices.Contains(w.spelled, spelling) {
			return w.transport
		}
	}
	return ""
}
