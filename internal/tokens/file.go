package tokens

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/slots"
	"golang.org/x/sync/singleflight"
)

// Token is what is known of a kept token.
type Token struct {
	Name      string    `json:"name"`               // of the token, unique in the file
	Principal string    `json:"principal"`          // who it stands for
	Toolboxes []string  `json:"toolboxes,omitzero"` // which it is for; nil = all, empty = none
	Admin     bool      `json:"admin,omitempty"`
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires,omitzero"` // zero = never
	SHA256    string    `json:"sha256"`           // of the token, in hexadecimal digits
}

// kept is the file.
type kept struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

const version = 1

// Prefix is what kept tokens begin with, so that they are told from others and found where they should not be.
const Prefix = "wb_"

// ErrNotFound says that there is no token of a name, and ErrExists that there is one.
var (
	ErrNotFound = errors.New("there is no such token")
	ErrExists   = errors.New("there is a token of that name")
)

// File keeps tokens. Several processes may use one at a time, and several goroutines a File.
type File struct {
	path    string
	turns   *slots.Slots
	reading singleflight.Group // of the file, for Verify

	mu      sync.Mutex
	looked  time.Time         // when the file was looked at last
	seen    fs.FileInfo       // as it was read; nil if it was not there
	problem error             // why it could not be read then
	bySum   map[string]*Token // what was in it, by SHA256
}

// Open keeps tokens in the file of that path, which is made, with mode 0600, when the first is kept. Nothing is read
// before it is needed.
func Open(path string) *File {
	return &File{path: path, turns: slots.New(filepath.Dir(path), 1)}
}

// List returns all tokens, the oldest first.
func (f *File) List() ([]Token, error) {
	k, _, err := f.read()
	return k.Tokens, err
}

// Create keeps a new token, for which t.Name and t.Principal are needed, and returns it. It fails with ErrExists if
// there is one of that name.
func (f *File) Create(ctx context.Context, t Token) (secret string, err error) {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails: it ends the program instead
	secret = Prefix + base64.RawURLEncoding.EncodeToString(bits)
	t.SHA256 = digest(secret)
	t.Created = time.Now().UTC().Truncate(time.Second)
	err = f.change(ctx, func(k *kept) error {
		for _, other := range k.Tokens {
			if other.Name == t.Name {
				return fmt.Errorf("%w: %s", ErrExists, t.Name)
			}
		}
		k.Tokens = append(k.Tokens, t)
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Revoke removes tokens by their names: all of them, or with ErrNotFound none.
func (f *File) Revoke(ctx context.Context, names ...string) error {
	return f.change(ctx, func(k *kept) error {
		gone := make(map[string]bool)
		for _, name := range names {
			gone[name] = true
		}
		rest := []Token{}
		for _, t := range k.Tokens {
			if gone[t.Name] {
				gone[t.Name] = false
				continue
			}
			rest = append(rest, t)
		}
		for _, name := range names {
			if gone[name] {
				return fmt.Errorf("%w: %s", ErrNotFound, name)
			}
		}
		k.Tokens = rest
		return nil
	})
}

// change lets do change what is kept. While it runs no other process does.
func (f *File) change(ctx context.Context, do func(*kept) error) error {
	done, err := f.turns.Take(ctx, f.path)
	if err != nil {
		return fmt.Errorf("the tokens cannot be kept: %w", err)
	}
	defer done()
	k, _, err := f.read()
	if err != nil {
		return err
	}
	if err := do(&k); err != nil {
		return err
	}
	text, err := json.MarshalIndent(k, "", "  ")
	if err == nil {
		err = openfile.Replace(f.path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("the tokens cannot be kept: %w", err)
	}
	return nil
}

// read returns what is in the file, and what the file was; nothing and nil if it is not there.
func (f *File) read() (kept, fs.FileInfo, error) {
	none := kept{Version: version}
	text, info, err := openfile.Read(f.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil, nil
	} else if err != nil {
		return none, nil, fmt.Errorf("the tokens cannot be read: %w", err)
	}
	if !openfile.Private(info) {
		return none, info, fmt.Errorf("others can read or change the tokens in %s (%04o): chmod 600 %s, if they did not", f.path, info.Mode().Perm(), f.path)
	}
	var k kept
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // what is not understood may be a limit
	switch err := d.Decode(&k); {
	case err != nil:
		return none, info, fmt.Errorf("the tokens in %s cannot be read: %w; correct the file, or remove it and make new tokens", f.path, foreign.NewError(err))
	case k.Version != version:
		return none, info, fmt.Errorf("the tokens in %s have version %d, this workbench knows version %d: use the workbench that made it", f.path, k.Version, version)
	}
	for i, t := range k.Tokens {
		if t.Name == "" || t.Principal == "" || len(t.SHA256) != hex.EncodedLen(sha256.Size) {
			return none, info, fmt.Errorf("the tokens in %s cannot be read: number %d lacks its name, principal or sha256; correct the file, or remove it and make new tokens", f.path, i+1)
		}
	}
	return k, info, nil
}

func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// maxFile is the most bytes that a file of tokens may have.
const maxFile = 16 << 20

// fresh is how long what was read is taken for what is in the file.
const fresh = time.Second

// again is how often the file is looked at for tokens that are not known.
const again = 10 * time.Millisecond

// Verify returns who a token stands for. It sees within a second what has become of the file, and at once what was
// added to it.
func (f *File) Verify(ctx context.Context, token string) (principal.Principal, error) {
	now := time.Now()
	f.mu.Lock()
	old := now.Sub(f.looked)
	due := f.looked.IsZero() || old >= fresh || old >= again && f.bySum[digest(token)] == nil
	f.mu.Unlock()
	if due { // one reads for all, and nobody waits for a disk longer than for the answer
		done := f.reading.DoChan("", func() (any, error) { f.refresh(); return nil, nil })
		select {
		case <-done:
		case <-ctx.Done():
			return principal.Principal{}, context.Cause(ctx)
		}
	}
	f.mu.Lock()
	t, err := f.bySum[digest(token)], f.problem
	f.mu.Unlock()
	switch {
	case err != nil:
		return principal.Principal{}, err
	case t == nil || !strings.HasPrefix(token, Prefix):
		return principal.Principal{}, &principal.DeniedError{Reason: "the token is not known here, or was revoked; workbench token create makes another"}
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return principal.Principal{}, &principal.DeniedError{Reason: "the token expired at " + t.Expires.UTC().Format(time.RFC3339) + "; workbench token create makes another"}
	}
	return principal.Principal{Name: t.Principal, Admin: t.Admin, Toolboxes: t.Toolboxes}, nil
}

// refresh reads the file if it is another than was read. Only one goroutine does at a time.
func (f *File) refresh() {
	now := time.Now()
	f.mu.Lock()
	seen, problem := f.seen, f.problem
	f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err == nil && problem == nil && seen != nil && os.SameFile(info, seen) && info.ModTime().Equal(seen.ModTime()) && info.Size() == seen.Size() && info.Mode() == seen.Mode() {
		f.mu.Lock()
		f.looked = now
		f.mu.Unlock()
		return
	}
	k, seen, problem := f.read()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked, f.seen, f.problem = now, seen, problem
	f.bySum = make(map[string]*Token)
	for i := range k.Tokens {
		f.bySum[k.Tokens[i].SHA256] = &k.Tokens[i]
	}
}
