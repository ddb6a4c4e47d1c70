// Package servercard writes what clients read of an MCP server before they connect to it: its card, and the catalogue
// of a host, which leads to the cards of all servers there (SEP-2127, and the catalogue of Agent-Card/ai-catalog).
//
// A card says who the server is and how it is reached, and nothing of what it offers.
package servercard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// The media types, and where the documents are: the catalogue at CatalogPath of a host, the card of a server at its
// address with Suffix.
const (
	Type        = "application/mcp-server-card+json"
	CatalogType = "application/ai-catalog+json"
	CatalogPath = "/.well-known/ai-catalog.json"
	Suffix      = "/server-card"
)

const (
	schema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
	// maxText is the most characters of a title and of a description.
	maxText = 100
	// maxPublisher keeps a name, of which 200 characters are allowed, within bounds.
	maxPublisher = 100
)

// Server is what a card says.
type Server struct {
	Host        string // as requests name it, with its port or without
	Name        string // of which a host has one
	Title       string
	Description string
	Version     string
	URL         string   // where it is served by streamable HTTP
	Protocols   []string // the revisions of the protocol that it speaks
	Token       bool     // it wants a bearer token
}

type card struct {
	Schema      string   `json:"$schema"`
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description"`
	Remotes     []remote `json:"remotes"`
}

type remote struct {
	Type      string   `json:"type"`
	URL       string   `json:"url"`
	Headers   []header `json:"headers,omitempty"`
	Protocols []string `json:"supportedProtocolVersions"`
}

type header struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	IsRequired  bool   `json:"isRequired"`
	IsSecret    bool   `json:"isSecret"`
}

type catalog struct {
	SpecVersion string  `json:"specVersion"`
	Entries     []entry `json:"entries"`
}

type entry struct {
	Identifier string `json:"identifier"`
	Type       string `json:"type"`
	URL        string `json:"url"`
}

// Card writes the card.
func (s *Server) Card() []byte {
	r := remote{Type: "streamable-http", URL: s.URL, Protocols: s.Protocols}
	if s.Token {
		r.Headers = []header{{"Authorization", "Bearer and a token for this gateway", true, true}}
	}
	return encode(card{schema, reversed(publisher(s.Host)) + "/" + plain(s.Name), s.Version, line(s.Title), line(s.Description), []remote{r}})
}

// Catalog writes the catalogue that leads to the cards of servers.
func Catalog(servers []Server) []byte {
	c := catalog{"1.0", []entry{}}
	for _, s := range servers {
		c.Entries = append(c.Entries, entry{"urn:air:" + publisher(s.Host) + ":mcp:" + plain(s.Name), Type, s.URL + Suffix})
	}
	return encode(c)
}

func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("servercard: strings cannot be encoded: " + err.Error())
	}
	return raw
}

// publisher is the name of a host, of characters that a name may have.
func publisher(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Map(func(r rune) rune {
		if isPlain(r) && r != '_' {
			return r
		}
		return '-'
	}, strings.Trim(host, "[]"))
	return host[:min(len(host), maxPublisher)]
}

// reversed gives the parts of a domain from the last to the first. What is no domain, such as an address, stays.
func reversed(publisher string) string {
	if net.ParseIP(publisher) != nil {
		return publisher
	}
	parts := strings.Split(publisher, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}

// plain gives a name of characters that a card's may have. A name that had others, or ends as one that had, ends in a
// digest of it, so that two names stay two.
func plain(name string) string {
	s := strings.Map(func(r rune) rune {
		if isPlain(r) {
			return r
		}
		return '-'
	}, name)
	if s == name && !digested(s) {
		return s
	}
	sum := sha256.Sum256([]byte(name))
	return s + "-" + hex.EncodeToString(sum[:digestLen/2])
}

const digestLen = 12

func digested(s string) bool {
	i := strings.LastIndexByte(s, '-')
	return i >= 0 && len(s)-i-1 == digestLen && !strings.ContainsFunc(s[i+1:], func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
}

// line keeps a text within what a card may say, on one line.
func line(text string) string { return cut.Within(strings.Join(strings.Fields(text), " "), maxText) }
