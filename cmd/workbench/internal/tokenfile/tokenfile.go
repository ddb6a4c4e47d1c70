// Package tokenfile keeps the token of serve --http in a file, and knows where those of single clients are kept.
package tokenfile

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/tokens"
)

// Path is where the token is kept.
func Path(e *cli.Environment, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	dir, err := e.StateDir()
	if err != nil {
		return "", cli.Hint(fmt.Errorf("there is no place for the token: %w", err), "name a file with --token-file")
	}
	return filepath.Join(dir, "token"), nil
}

// minToken is the least length of a token; ours have 43 characters.
const minToken = 32

// Load reads the token, making it first if there is none.
func Load(path string) (string, error) {
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := makeToken(path); err != nil {
		return "", fmt.Errorf("the token cannot be kept: %w", err)
	}
	return readToken(path)
}

func readToken(path string) (string, error) {
	text, info, err := openfile.Read(path, 1<<10)
	if errors.Is(err, fs.ErrPermission) {
		return "", cli.Hint(fmt.Errorf("the token cannot be read: %w", err), "the file must belong to this user; or name another one with --token-file")
	} else if err != nil {
		return "", err
	}
	if !openfile.Private(info) {
		return "", cli.Hint(fmt.Errorf("others can read the token file %s (%04o)", path, info.Mode().Perm()), fmt.Sprintf("chmod 600 %s; if others may have read it, delete it to get a new one", path))
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || len(token) > 512 || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", cli.Hint(fmt.Errorf("the token file %s does not hold a token of %d to 512 visible ASCII characters", path, minToken), "delete it to get a new one")
	}
	return token, nil
}

// makeToken writes a token of 256 random bits. Of two programs that do so at once, the first one's stands.
func makeToken(path string) error {
	dir := filepath.Dir(path)
	if err := openfile.MakeFolder(dir, 0o700); err != nil {
		return err
	}
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails: it ends the program instead
	err := openfile.PutNew(path, []byte(base64.RawURLEncoding.EncodeToString(bits)+"\n"))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// OfClients is the file of the tokens of clients.
func OfClients(e *cli.Environment) (*tokens.File, error) {
	dir, err := e.StateDir()
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("there is no place for tokens: %w", err), "set XDG_STATE_HOME to an absolute path")
	}
	return tokens.Open(filepath.Join(dir, "tokens.json")), nil
}

// AddFlag adds the flag that names the file of the token.
func AddFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "token-file", "", "HTTP: `file` with the token, made if there is none (default: $XDG_STATE_HOME/workbench/token or ~/.local/state/workbench/token)")
}
