package published

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// Official is the address of the official registry.
const Official = "https://registry.modelcontextprotocol.io"

// Bounds of what is fetched, in bytes.
const (
	maxDocument = 4 << 20
	MaxBundle   = 256 << 20 // of a bundle, packed
)

// Registry is one that speaks the API of the official one.
type Registry struct {
	Base string // its address
	HTTP *http.Client
}

// UnknownError says that a registry has no server of a name, and which it has that are like it.
type UnknownError struct {
	Name string
	Like []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the registry has no server %q", foreign.NewName(e.Name))
}

// Find returns what is published of a server, in its version, "" for the latest. What is said of its state, if it is
// not active, is a note. Without a server of that name the error is an *[UnknownError].
func (r *Registry) Find(ctx context.Context, name, version string) (d *Detail, note string, err error) {
	version = cmp.Or(version, "latest")
	var found struct {
		Server json.RawMessage `json:"server"`
		Meta   map[string]struct {
			Status  string `json:"status"`
			Message string `json:"statusMessage"`
		} `json:"_meta"`
	}
	status, err := r.ask(ctx, "/v0.1/servers/"+url.PathEscape(name)+"/versions/"+url.PathEscape(version), &found)
	switch {
	case status == http.StatusNotFound || !strings.Contains(name, "/"):
		return nil, "", r.unknown(ctx, name)
	case err != nil:
		return nil, "", err
	}
	if d, err = Read(found.Server); err != nil {
		return nil, "", err
	}
	switch state := found.Meta["io.modelcontextprotocol.registry/official"]; state.Status {
	case "", "active":
	case "deleted":
		return nil, "", fmt.Errorf("the registry has deleted %s, as it does with what is harmful or unlawful", foreign.NewName(name))
	default:
		note = fmt.Sprintf("the registry says that it is %s: %s", foreign.NewName(state.Status), foreign.NewText(state.Message))
	}
	return d, note, nil
}

// unknown looks for names that are like one.
func (r *Registry) unknown(ctx context.Context, name string) error {
	var found struct {
		Servers []struct {
			Server struct {
				Name string `json:"name"`
			} `json:"server"`
		} `json:"servers"`
	}
	word := name[strings.LastIndexByte(name, '/')+1:]
	if _, err := r.ask(ctx, "/v0.1/servers?version=latest&limit=50&search="+url.QueryEscape(word), &found); err != nil {
		return err
	}
	var all []string
	for _, s := range found.Servers {
		all = append(all, foreign.NewName(s.Server.Name).String())
	}
	if near := nearest.Names(name, all, 5); len(near) > 0 {
		all = near
	}
	return &UnknownError{name, all[:min(len(all), 5)]}
}

// ask gets a document of the registry.
func (r *Registry) ask(ctx context.Context, path string, into any) (status int, err error) {
	data, status, err := get(ctx, r.HTTP, strings.TrimSuffix(r.Base, "/")+path, maxDocument)
	if err == nil {
		if err = json.Unmarshal(data, into); err != nil {
			err = fmt.Errorf("the answer of the registry cannot be read: %w", foreign.Misread(err, into))
		}
	}
	return status, err
}

// Fetch gets the bundle of a way and holds it against its digest.
func (r *Registry) Fetch(ctx context.Context, w Way) ([]byte, error) {
	if len(w.Digest) != hex.EncodedLen(sha256.Size) {
		return nil, errors.New("its bundle is published without a SHA-256, which is required")
	}
	data, _, err := get(ctx, r.HTTP, w.URL, MaxBundle)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); !strings.EqualFold(hex.EncodeToString(sum[:]), w.Digest) {
		return nil, errors.New("its bundle is not the one that was published: the SHA-256 differs")
	}
	return data, nil
}

// get fetches by https, or from this machine.
func get(ctx context.Context, client *http.Client, address string, most int64) (data []byte, status int, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, 0, fmt.Errorf("the address %q is none", foreign.NewName(address))
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())) {
		return nil, 0, fmt.Errorf("the address %q is not one of https", foreign.NewName(address))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, 0, err
	}
	resp, err := client.Do(req)
	if err != nil {
		if failed := new(url.Error); errors.As(err, &failed) {
			err = failed.Err // the address is long, and no news
		}
		return nil, 0, fmt.Errorf("%s cannot be reached (is this machine on the network, and HTTPS_PROXY right?): %w", foreign.NewName(u.Host), foreign.NewError(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode, fmt.Errorf("%s answers HTTP %d", foreign.NewName(u.Host), resp.StatusCode)
	}
	data, err = io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, 0, foreign.NewError(err)
	case int64(len(data)) > most:
		return nil, 0, fmt.Errorf("what %s sends is over the limit of %d bytes", foreign.NewName(u.Host), most)
	}
	return data, resp.StatusCode, nil
}
