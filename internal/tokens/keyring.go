package tokens

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

// How long keys are used.
const (
	keysFresh = 5 * time.Minute  // until they are read anew
	keysPause = 10 * time.Second // between two readings, whatever tokens ask for
	keysStale = time.Hour        // at most, if they cannot be read anew
	keysWait  = 10 * time.Second // for one reading
	maxKeys   = 1 << 20          // bytes
)

// keyring has the keys of an issuer, which reads them when it is first asked.
type keyring struct {
	load   func(ctx context.Context) ([]byte, error)
	flight singleflight.Group

	mu      sync.Mutex
	keys    []key
	read    time.Time // when they were
	tried   time.Time // when that was last tried
	problem error     // why it failed then
}

// find returns the keys that a token with this key id and algorithm may be signed with: none, if it is not of this
// issuer, and an error if that cannot be told, since the keys could not be read when they were asked for last.
func (r *keyring) find(ctx context.Context, id, alg string) ([]key, error) {
	now := time.Now()
	r.mu.Lock()
	fit, fresh := r.fitLocked(id, alg, now), now.Sub(r.read) < keysFresh
	due := (!fresh || fit == nil) && (r.tried.IsZero() || now.Sub(r.tried) >= keysPause)
	r.mu.Unlock()
	if due {
		done := r.flight.DoChan("", func() (any, error) { r.refresh(); return nil, nil })
		if fit != nil {
			return fit, nil // Nobody waits for what is read just in case; that ends by itself.
		}
		select {
		case <-done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if fit = r.fitLocked(id, alg, time.Now()); fit == nil {
		return nil, r.problem
	}
	return fit, nil
}

func (r *keyring) fitLocked(id, alg string, now time.Time) (fit []key) {
	if now.Sub(r.read) >= keysStale {
		return nil
	}
	for _, k := range r.keys {
		if (k.id == id || k.id == "" || id == "") && (k.alg == alg || k.alg == "") {
			fit = append(fit, k)
		}
	}
	return fit
}

// refresh reads the keys. It is bounded by itself: several callers wait for it.
func (r *keyring) refresh() {
	ctx, cancel := context.WithTimeout(context.Background(), keysWait)
	defer cancel()
	text, err := r.load(ctx)
	var keys []key
	if err == nil {
		keys, err = parseKeys(text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried, r.problem = time.Now(), err
	if err == nil {
		r.keys, r.read = keys, r.tried
	}
}

// fromFile reads keys from a file. One that other users can write or replace is refused: they could make tokens.
func fromFile(path string) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		text, _, err := openfile.ReadTrusted(path, maxKeys)
		if err != nil {
			return nil, fmt.Errorf("the keys of tokens cannot be read: %w", err)
		}
		return text, nil
	}
}

// CheckFile says why an Issuer cannot have its keys from a file; nil if it can.
func CheckFile(path string) error {
	text, err := fromFile(path)(context.Background())
	if err == nil {
		_, err = parseKeys(text)
	}
	return err
}

// fromURL reads keys from an address. It follows no redirect, which would hand the decision of whom to trust to
// another.
func fromURL(address string, client *http.Client) func(context.Context) ([]byte, error) {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return func(ctx context.Context) ([]byte, error) {
		text, err := get(ctx, &own, address)
		if err != nil {
			return nil, fmt.Errorf("the keys of tokens cannot be fetched: %w", err)
		}
		return text, nil
	}
}

func get(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with %s", address, resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxKeys+1))
	if err == nil && len(text) > maxKeys {
		err = fmt.Errorf("%s answers with more than %d bytes", address, maxKeys)
	}
	return text, err
}
