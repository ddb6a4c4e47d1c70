package httpfront

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/mcp-workbench/workbench/proxy"
)

// wellKnown is where a server is described to clients that want to know where to log in, alone or with the path of the
// resource behind it (RFC 9728, section 3.1).
const wellKnown = "/.well-known/oauth-protected-resource"

// Resource is what is said of the server to a client without a token.
type Resource struct {
	Address string // of the server, as tokens have it in aud: https://host/path
	Issuer  string // the address of the authorization server
}

// metadata is where a Resource is described, and how.
type metadata struct {
	address string
	scheme  string // of the resource
	host    string // of the resource
	paths   map[string]bool
	text    []byte
}

// metadataOf returns nil of what has no address, which clients could not make anything of.
func metadataOf(r *Resource) *metadata {
	if r == nil || !isWeb(r.Address) || !isWeb(r.Issuer) {
		return nil
	}
	text, err := json.Marshal(map[string]any{
		"resource": r.Address, "resource_name": proxy.Name, "authorization_servers": []string{r.Issuer},
		"bearer_methods_supported": []string{"header"}, "scopes_supported": []string{"workbench:toolbox:*"},
	})
	if err != nil {
		panic("httpfront: strings cannot be encoded: " + err.Error())
	}
	u, _ := url.Parse(r.Address)
	path := wellKnown
	if u.Path != "/" {
		path += u.Path
	}
	at := url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}
	return &metadata{address: at.String(), scheme: u.Scheme, host: u.Host, paths: map[string]bool{wellKnown: true, path: true}, text: text}
}

func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.RawQuery == "" && u.Fragment == ""
}

func (d *metadata) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		refuseMethod("GET, HEAD").write(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(d.text)
}
