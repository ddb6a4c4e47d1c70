package tokens_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/tokens"
)

// made makes a token.
func made(t *testing.T, f *tokens.File, tok tokens.Token) string {
	t.Helper()
	secret, err := f.Create(t.Context(), tok)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// verifier is what says who a token stands for.
type verifier interface {
	Verify(ctx context.Context, token string) (principal.Principal, error)
}

// denied fails the test unless a token is refused for a reason.
func denied(t *testing.T, v verifier, token, reason string) {
	t.Helper()
	p, err := v.Verify(t.Context(), token)
	var no *principal.DeniedError
	if !errors.As(err, &no) || !strings.Contains(no.Reason, reason) || p.Name != "" {
		t.Errorf("got %+v and %v, want it denied with %q", p, err, reason)
	}
}

func TestVerify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "tokens.json")
	f := tokens.Open(path)
	for name, tt := range map[string]struct {
		token tokens.Token
		want  principal.Principal
	}{
		"all":   {tokens.Token{Name: "a", Principal: "ada"}, principal.Principal{Name: "ada"}},
		"some":  {tokens.Token{Name: "b", Principal: "ada", Toolboxes: []string{"x", "y"}}, principal.Principal{Name: "ada", Toolboxes: []string{"x", "y"}}},
		"none":  {tokens.Token{Name: "c", Principal: "ada", Toolboxes: []string{}}, principal.Principal{Name: "ada", Toolboxes: []string{}}},
		"admin": {tokens.Token{Name: "d", Principal: "bob", Admin: true}, principal.Principal{Name: "bob", Admin: true}},
		"ends":  {tokens.Token{Name: "e", Principal: "bob", Expires: time.Now().Add(time.Hour)}, principal.Principal{Name: "bob"}},
	} {
		t.Run(name, func(t *testing.T) {
			secret := made(t, f, tt.token)
			if len(secret) != 46 || !strings.HasPrefix(secret, "wb_") {
				t.Errorf("got token %q, want wb_ and 256 bits", secret)
			}
			got, err := tokens.Open(path).Verify(t.Context(), secret)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v and %v, want %+v", got, err, tt.want)
			}
			text, err := os.ReadFile(path)
			if err != nil || strings.Contains(string(text), secret[3:]) {
				t.Errorf("got %v and %s, want a file without the token", err, text)
			}
			for _, other := range []string{"", "wb_", secret[:45], secret + "x", secret[3:], strings.ToUpper(secret)} {
				denied(t, f, other, "not known here, or was revoked")
			}
		})
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("got %v and %v, want mode 0600", info, err)
	}
}

// A token is good as soon as it is made, though another one was asked about just before.
func TestFaultU9_NewToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	synctest.Test(t, func(t *testing.T) {
		running, f := tokens.Open(path), tokens.Open(path)
		for i := range 3 {
			denied(t, running, "wb_x", "not known")
			secret := made(t, f, tokens.Token{Name: fmt.Sprint("t", i), Principal: "ada"})
			time.Sleep(20 * time.Millisecond)
			if p, err := running.Verify(t.Context(), secret); err != nil || p.Name != "ada" {
				t.Errorf("got %+v and %v, want ada", p, err)
			}
		}
	})
}

// A program that runs sees what others change, and the end of a token.
func TestChangesAreSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	synctest.Test(t, func(t *testing.T) {
		running := tokens.Open(path)
		denied(t, running, "wb_x", "not known")
		f := tokens.Open(path)
		secret := made(t, f, tokens.Token{Name: "a", Principal: "ada", Expires: time.Now().Add(time.Hour)})
		made(t, f, tokens.Token{Name: "b", Principal: "bob"})
		time.Sleep(time.Second)
		if p, err := running.Verify(t.Context(), secret); err != nil || p.Name != "ada" {
			t.Errorf("got %+v and %v after a second, want ada", p, err)
		}
		if err := f.Revoke(t.Context(), "a", "gone"); !errors.Is(err, tokens.ErrNotFound) {
			t.Errorf("got %v, want one not found", err)
		}
		time.Sleep(time.Hour - 2*time.Second)
		if p, err := running.Verify(t.Context(), secret); err != nil || p.Name != "ada" {
			t.Errorf("got %+v and %v after an hour, want ada", p, err)
		}
		time.Sleep(time.Second)
		denied(t, running, secret, "expired at 2000-01-01T01:00:00Z")
		if err := f.Revoke(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		denied(t, running, secret, "revoked")
		if list, err := running.List(); err != nil || len(list) != 1 || list[0].Name != "b" {
			t.Errorf("got %v and %v, want b alone", list, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		denied(t, running, secret, "not known")
	})
}

// A file that cannot be relied on lets nobody in, and does not say that they are wrong.
func TestDamagedFile(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"garbage", "{", "cannot be read"},
		{"a newer version", `{"version":2,"tokens":[]}`, "version 2"},
		{"an unknown limit", `{"version":1,"tokens":[{"name":"a","principal":"p","sha256":"` + strings.Repeat("0", 64) + `","only_on":"monday"}]}`, "only_on"},
		{"nobody's", `{"version":1,"tokens":[{"name":"a","sha256":"` + strings.Repeat("0", 64) + `"}]}`, "number 1 lacks"},
		{"no digest", `{"version":1,"tokens":[{"name":"a","principal":"p","sha256":""}]}`, "number 1 lacks"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokens.json")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			f := tokens.Open(path)
			_, err := f.Verify(t.Context(), "wb_x")
			var no *principal.DeniedError
			if err == nil || errors.As(err, &no) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want an error with %q and the place", err, tt.want)
			}
			if _, err := f.Create(t.Context(), tokens.Token{Name: "b", Principal: "p"}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v from making one, want an error with %q", err, tt.want)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != tt.text {
				t.Errorf("got %v and %s, want the file as it was", err, text)
			}
		})
	}
}

func TestFileOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are kept elsewhere on Windows")
	}
	path := filepath.Join(t.TempDir(), "tokens.json")
	f := tokens.Open(path)
	secret := made(t, f, tokens.Token{Name: "a", Principal: "p"})
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if p, err := f.Verify(t.Context(), secret); err == nil || !strings.Contains(err.Error(), "(0640): chmod 600") {
		t.Errorf("got %+v and %v, want it refused for its mode", p, err)
	}
}

func TestCreateTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	var all sync.WaitGroup
	var mu sync.Mutex
	exists := 0
	for i := range 20 {
		all.Go(func() {
			_, err := tokens.Open(path).Create(t.Context(), tokens.Token{Name: fmt.Sprint("t", i/2), Principal: "p"})
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, tokens.ErrExists) {
				exists++
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := tokens.Open(path).List(); err != nil || len(list) != 10 || exists != 10 {
		t.Errorf("got %d tokens, %d that were there and %v, want 10 of each", len(list), exists, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), openfile.Prefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("got %v and %q left behind", err, left)
	}
}
