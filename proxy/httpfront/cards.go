package httpfront

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/servercard"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/proxy/meta"
)

// maxCardAge is how long a client may keep a card or the catalogue before it asks again, in seconds. They change with
// the configuration.
const maxCardAge = 300

// cardOf reports whether a request is for a card, and of which toolbox, "" for all. A toolbox may be called as the card
// of all is: its clients send messages there, and ask for streams.
func cardOf(r *http.Request) (toolbox string, ok bool) {
	path, ok := strings.CutPrefix(r.URL.Path, "/mcp")
	if !ok {
		return "", false
	}
	if path == servercard.Suffix {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
		return "", reads && !strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream")
	}
	toolbox, ok = strings.CutSuffix(path, servercard.Suffix)
	toolbox, slash := strings.CutPrefix(toolbox, "/")
	return toolbox, ok && slash && toolbox != ""
}

// cards tell of the endpoints to those who may use them.
type cards struct {
	root *proxy.Proxy
	*door
	version string
}

// serveCard answers for the card of a toolbox, or with "" of all. Like the toolbox itself, the card is there for those
// alone who may use it.
func (cs *cards) serveCard(w http.ResponseWriter, r *http.Request, toolbox string) {
	cs.publish(w, r, func(c *caller) []byte {
		front := cs.root.For(&c.Principal, toolbox)
		if front == nil {
			return nil
		}
		boxes, direct := front.Toolboxes()
		if toolbox != "" && !direct {
			return nil
		}
		server := cs.card(r, toolbox, one(boxes, direct))
		w.Header().Set("Content-Type", servercard.Type)
		return server.Card()
	})
}

// serveCatalog answers for the list of the cards that a caller may see.
func (cs *cards) serveCatalog(w http.ResponseWriter, r *http.Request) {
	cs.publish(w, r, func(c *caller) []byte {
		var servers []servercard.Server
		if front := cs.root.For(&c.Principal, ""); front != nil {
			boxes, direct := front.Toolboxes()
			servers = append(servers, cs.card(r, "", one(boxes, direct)))
			for i := range boxes {
				servers = append(servers, cs.card(r, boxes[i].Name, &boxes[i]))
			}
		}
		w.Header().Set("Content-Type", servercard.CatalogType)
		return servercard.Catalog(servers)
	})
}

// one is the toolbox that is served directly; nil if all are, behind the meta tools.
func one(boxes []config.Toolbox, direct bool) *config.Toolbox {
	if !direct {
		return nil
	}
	return &boxes[0]
}

// card is what is said of the endpoint of a toolbox, or with "" of the one of all, or of the one toolbox that is
// served.
func (cs *cards) card(r *http.Request, name string, box *config.Toolbox) servercard.Server {
	scheme, host := cs.reachedAt(r)
	s := servercard.Server{
		Host: host, Name: "workbench", Title: "Workbench", Description: "Toolboxes of MCP servers, to be opened when they are needed",
		Version: cs.version, URL: scheme + "://" + host + "/mcp", Protocols: eras.Revisions(), Token: len(cs.token) > 0,
	}
	if name != "" { // that of all has no point in its name
		s.Name += "." + name
		s.URL += "/" + url.PathEscape(name)
	}
	if box != nil {
		s.Title, s.Description = "Workbench: "+foreign.NewName(box.Name).String(), meta.Describe(box.Description)
	}
	return s
}

// reachedAt is the scheme and the host by which clients reach the gateway: those of the address that tokens are made
// for, or those of the request.
func (cs *cards) reachedAt(r *http.Request) (scheme, host string) {
	if cs.metadata != nil {
		return cs.metadata.scheme, cs.metadata.host
	}
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" && visitorOf(r).isProxy(r.RemoteAddr) {
		return "https", r.Host
	}
	return "http", r.Host
}

// publish answers a GET with the document that made gives for the caller, nil if there is none for them. Whoever is not
// let in gets the same answer whatever is there.
func (cs *cards) publish(w http.ResponseWriter, r *http.Request, made func(*caller) []byte) {
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", "*") // other origins than those that are allowed did not come so far
	head.Set("Access-Control-Allow-Methods", "GET")
	head.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-None-Match")
	head.Set("Access-Control-Expose-Headers", "ETag")
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	c, no := cs.authorize(r)
	if no == nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
		no = refuseMethod("GET, HEAD, OPTIONS")
	}
	if no != nil {
		no.write(w, r)
		return
	}
	text := made(&c)
	if text == nil {
		refuse(http.StatusNotFound, fmt.Sprintf("there is nothing at %s; %s lists what there is", foreign.NewName(r.URL.Path), servercard.CatalogPath)).write(w, r)
		return
	}
	whose := "public"
	if len(cs.token) > 0 {
		whose = "private"
		head.Set("Vary", "Authorization")
	}
	sum := sha256.Sum256(text)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	head.Set("Cache-Control", fmt.Sprintf("%s, max-age=%d", whose, maxCardAge))
	head.Set("ETag", tag)
	if hasTag(r.Header.Values("If-None-Match"), tag) {
		head.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(text)
}

// hasTag reports whether the values of If-None-Match name a tag.
func hasTag(values []string, tag string) bool {
	for _, line := range values {
		for given := range strings.SplitSeq(line, ",") {
			if given = strings.TrimPrefix(strings.TrimSpace(given), "W/"); given == tag || given == "*" {
				return true
			}
		}
	}
	return false
}
