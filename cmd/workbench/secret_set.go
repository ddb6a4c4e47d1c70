package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/secrets"
)

func secretSetCommand(env *environment) *cobra.Command {
	var inFile bool
	var user string
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Keep a secret",
		Long: `Set asks for the value of a secret without showing it, or reads it from standard
input, without the end of its last line. It is kept in the keychain of the
system; with --file in a file that is encrypted by age, whose key is in a file
beside it that only you can read, or where WORKBENCH_SECRETS_KEY says.

With --user it is the secret of one user, for commands of a command workflow that
name it by ${user:NAME}; default_user is who works without a token of a user.`,
		Example: `  workbench secret set GITHUB_TOKEN
  workbench secret set SHOP_TOKEN --user ada
  op read op://work/github/token | workbench secret set GITHUB_TOKEN --file`,
		Args:              between(1, 1),
		ValidArgsFunction: env.offer(env.secretNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if err := env.keepsSecret(name); err != nil {
				return err
			}
			name = userSecret(name, user)
			value, err := env.readSecret(cmd.Context(), "Value of "+shownSecretName(name)+": ")
			if err != nil {
				return err
			}
			if err := secrets.Check(value); err != nil {
				return hinted{fmt.Errorf("the value of %s cannot be kept: %w", shownSecretName(name), err), "type it at a terminal, or give it on standard input"}
			}
			return env.keepSecret(cmd.Context(), name, value, inFile)
		},
	}
	cmd.Flags().BoolVar(&inFile, "file", false, "keep it in the encrypted file instead of the keychain")
	cmd.Flags().StringVar(&user, "user", "", "keep it for the commands of this `user`")
	return cmd
}

// keepsSecret reports what speaks against keeping a secret of a name.
func (e *environment) keepsSecret(name string) error {
	if wrong := config.WrongSecretName(name); wrong != "" {
		return usageError{hinted{errors.New(wrong), "the value is asked for, and is no argument"}}
	}
	if _, err := e.stateDir(); err != nil {
		return hinted{fmt.Errorf("there is no place for secrets: %w", err), "set HOME or XDG_STATE_HOME"}
	}
	return nil
}

// keepSecret keeps a secret in one of the two places, and takes it out of the other: there are no two values of one name.
func (e *environment) keepSecret(ctx context.Context, name, value string, inFile bool) error {
	where, other := "the keychain of the system", func() error { return e.secretFile().Remove(ctx, name) }
	var err error
	if inFile {
		where, other = "the encrypted file", func() error { return e.keychain().Remove(ctx, name) }
		err = e.secretFile().Set(ctx, name, value)
	} else {
		err = e.keychain().Set(ctx, name, value)
	}
	switch {
	case errors.Is(err, secrets.ErrNoKeychain):
		return hinted{err, "keep it in an encrypted file: workbench secret set --file " + secretArguments(name)}
	case err != nil:
		return fmt.Errorf("%s is not kept in %s: %w", shownSecretName(name), where, err)
	}
	if err := other(); err != nil && !errors.Is(err, secrets.ErrNotSet) && !errors.Is(err, secrets.ErrNoKeychain) {
		fmt.Fprintf(e.err, "workbench: warning: an older value of %s may be kept in the other place: %v\n", shownSecretName(name), err)
	}
	fmt.Fprintf(e.err, "%s is kept in %s.\n", shownSecretName(name), where)
	return nil
}

// readSecret asks for a value without showing it, or reads it from standard input where nobody types.
func (e *environment) readSecret(ctx context.Context, prompt string) (string, error) {
	in, isFile := e.in.(*os.File)
	if !isFile || !isTerminal(e.in) {
		data, err := io.ReadAll(io.LimitReader(e.in, secrets.MaxSize+3))
		return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), err
	}
	shown, err := term.GetState(int(in.Fd()))
	if err != nil {
		return "", err
	}
	fmt.Fprint(e.err, prompt)
	type line struct {
		text []byte
		err  error
	}
	typed := make(chan line, 1)
	go func() {
		text, err := term.ReadPassword(int(in.Fd()))
		typed <- line{text, err}
	}()
	select {
	case l := <-typed:
		fmt.Fprintln(e.err)
		if errors.Is(l.err, io.EOF) {
			return "", errors.New("nothing was typed")
		}
		return string(l.text), l.err
	case <-ctx.Done():
		_ = term.Restore(int(in.Fd()), shown) // the terminal is to show again what is typed
		fmt.Fprintln(e.err)
		return "", context.Cause(ctx)
	}
}

func secretRemoveCommand(env *environment) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "rm NAME...",
		Short: "Forget secrets",
		Long: `Rm forgets secrets, with --user those of one user. Servers that run have been given them, and keep them until they
end.`,
		Example:           `  workbench secret rm GITHUB_TOKEN`,
		Args:              between(1, -1),
		ValidArgsFunction: env.offerEach(env.secretNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range args {
				if err := env.keepsSecret(name); err != nil {
					return err
				}
				name = userSecret(name, user)
				if err := env.removeSecret(cmd.Context(), name); err != nil {
					return err
				}
				fmt.Fprintf(env.err, "%s is forgotten.\n", shownSecretName(name))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "forget those of this `user`")
	return cmd
}

func (e *environment) removeSecret(ctx context.Context, name string) error {
	inFile, inKeychain := e.secretFile().Remove(ctx, name), e.keychain().Remove(ctx, name)
	missing := func(err error) bool {
		return errors.Is(err, secrets.ErrNotSet) || errors.Is(err, secrets.ErrNoKeychain)
	}
	switch {
	case inFile == nil && (inKeychain == nil || missing(inKeychain)), inKeychain == nil && missing(inFile):
		return nil
	case missing(inFile) && missing(inKeychain):
		return hinted{fmt.Errorf("there is no secret %s", shownSecretName(name)), "workbench secret list shows which there are"}
	case missing(inFile):
		return inKeychain
	case missing(inKeychain):
		return inFile
	}
	return errors.Join(inFile, inKeychain)
}
