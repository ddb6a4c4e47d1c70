package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

func tokenCommand(env *cli.Environment) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print the token that HTTP clients need, or make one for each",
		Long: `Token prints the token that clients of workbench serve --http must send in the
header Authorization: Bearer TOKEN. It is made on the first use and kept in a
file that only you can read. Delete the file for a new one, and start the
server again.

Who has that token may do everything. The commands below make tokens for single
clients, which can be limited, end, and be taken back.`,
		Example: `  workbench token
  curl -H "Authorization: Bearer $(workbench token)" http://127.0.0.1:7777/mcp
  workbench token create ci --toolbox dev --expires 30d`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := tokenPath(env, file)
			if err != nil {
				return err
			}
			token, err := loadToken(path)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(env.Out, token)
			return err
		},
	}
	addTokenFile(cmd.Flags(), &file)
	cmd.AddCommand(tokenCreateCommand(env), tokenListCommand(env), tokenRevokeCommand(env))
	return cmd
}

// tokenPath is where the token is kept.
func tokenPath(e *cli.Environment, given string) (string, error) {
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

// loadToken reads the token, making it first if there is none.
func loadToken(path string) (string, error) {
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
		return "", cli.Hint(fmt.Errorf("the token cannot be read: %w", err), "the file must belong to this user; or name another with --token-file")
	} else if err != nil {
		return "", err
	}
	if !openfile.Private(info) {
		return "", cli.Hint(fmt.Errorf("others can read the token file %s (%04o)", path, info.Mode().Perm()), fmt.Sprintf("chmod 600 %s; if others may have read it, delete it for a new one", path))
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || len(token) > 512 || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", cli.Hint(fmt.Errorf("the token file %s does not hold a token of %d to 512 visible ASCII characters", path, minToken), "delete it for a new one")
	}
	return token, nil
}

// makeToken writes a token of 256 random bits. Of two programs that do so at
// once, the first one's stands.
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
