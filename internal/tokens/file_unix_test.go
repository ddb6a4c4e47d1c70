//go:build unix

package tokens_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/tokens"
)

// Pipes in place of the tokens and of an issuer's keys hold nobody up; the tokens are good again with their file.
func TestFaultG47_PipesForTokens(t *testing.T) {
	dir := t.TempDir()
	path, keys := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "keys.json")
	secret := made(t, tokens.Open(path), tokens.Token{Name: "a", Principal: "ada"})
	if err := errors.Join(os.Rename(path, path+".kept"), unix.Mkfifo(path, 0o600), unix.Mkfifo(keys, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	f := tokens.Open(path)
	if _, err := f.Verify(ctx, secret); !errors.Is(err, openfile.ErrNotRegular) {
		t.Errorf("got error %v, want that it is not regular", err)
	}
	issuer := tokens.NewIssuer(tokens.IssuerOptions{Name: "https://issuer.example", Audience: "here", KeysFile: keys, Algorithms: []string{"EdDSA"}})
	const unsigned = "eyJhbGciOiJFZERTQSIsImtpZCI6ImEifQ.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiaGVyZSIsInN1YiI6ImEiLCJleHAiOjQxMDI0NDQ4MDB9.AAAA"
	if p, err := issuer.Verify(ctx, unsigned); ctx.Err() != nil || err == nil {
		t.Errorf("got %+v and %v, want it refused at once", p, err)
	}
	if err := os.Rename(path+".kept", path); err != nil {
		t.Fatal(err)
	}
	for p, err := f.Verify(ctx, secret); p.Name != "ada"; p, err = f.Verify(ctx, secret) {
		if ctx.Err() != nil {
			t.Fatalf("got %v, want the token to be good again", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Whoever can change the keys of an issuer can make tokens: a file of keys that others can write is not used.
func TestKeysThatOthersCanWrite(t *testing.T) {
	s := newSigner(t, "a", jwt.SigningMethodES256)
	path := file(t, set(t, s.jwk()))
	for mode, want := range map[os.FileMode]string{0o644: "", 0o666: "can be written by everybody"} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		i := tokens.NewIssuer(tokens.IssuerOptions{Name: issuer, Audience: audience, Algorithms: algorithms(), KeysFile: path})
		_, err := i.Verify(t.Context(), s.token(t, good()))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%04o: got %v, want %q", mode, err, want)
		}
	}
}
