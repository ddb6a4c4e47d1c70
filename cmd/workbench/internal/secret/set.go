package secret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/secrets"
)

func secretSetCommand(env *cli.Environment) *cobra.Command {
	var inFile bool
	var user string
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Store a secret",
		Long: `Set asks for the value of a secret without showing it, or reads it from standard
input, without the end of the last line. It is stored in the keychain of the system,
or with --file in a file encrypted with age. The key of that file is in a file beside
it that only you can read, or where WORKBENCH_SECRETS_KEY says.

With --user it is the secret of one user, for commands of a command workflow that use
it as ${user:NAME}. Users without a token of their own are default_user.`,
		Example: `  workbench secret set GITHUB_TOKEN
  workbench secret set SHOP_TOKEN --user ada
  op read op://work/github/token | workbench secret set GITHUB_TOKEN --file`,
		Args:              cli.Between(1, 1),
		ValidArgsFunction: cli.Offer(func() []string { return cli.SecretNames(env) }),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if err := keepsSecret(env, name); err != nil {
				return err
			}
			name = cli.UserSecret(name, user)
			if !inFile && !cli.Keychain(env).Reachable() { // before somebody types
				return noKeychain(secrets.ErrNoKeychain, name)
			}
			value, err := readSecret(cmd.Context(), env, "Value of "+shownSecretName(name)+": ")
			if err != nil {
				return err
			}
			if err := secrets.Check(value); err != nil {
				return cli.Hint(fmt.Errorf("the value of %s cannot be kept: %w", shownSecretName(name), err), "type it at a terminal, or give it on standard input")
			}
			return keepSecret(cmd.Context(), env, name, value, inFile)
		},
	}
	cmd.Flags().BoolVar(&inFile, "file", false, "keep it in the encrypted file instead of the keychain")
	cmd.Flags().StringVar(&user, "user", "", "keep it for the commands of this `user`")
	return cmd
}

func noKeychain(err error, name string) error {
	return cli.Hint(err, "keep it in an encrypted file: workbench secret set --file "+secretArguments(name))
}

// keepsSecret reports what speaks against keeping a secret of a name.
func keepsSecret(e *cli.Environment, name string) error {
	if wrong := config.WrongSecretName(name); wrong != "" {
		return cli.Usage(cli.Hint(errors.New(wrong), "the value is asked for, and is not an argument"))
	}
	if _, err := e.StateDir(); err != nil {
		return cli.Hint(fmt.Errorf("there is no place for secrets: %w", err), "set HOME or XDG_STATE_HOME")
	}
	return nil
}

// keepSecret keeps a secret in one of the two places, and takes it out of the other: there are no two values of one
// name.
func keepSecret(ctx context.Context, e *cli.Environment, name, value string, inFile bool) error {
	where, other := "the keychain of the system", func() error { return cli.SecretFile(e).Remove(ctx, name) }
	var err error
	if inFile {
		where, other = "the encrypted file", func() error { return cli.Keychain(e).Remove(ctx, name) }
		err = cli.SecretFile(e).Set(ctx, name, value)
	} else {
		err = cli.Keychain(e).Set(ctx, name, value)
	}
	switch {
	case errors.Is(err, secrets.ErrNoKeychain):
		return noKeychain(err, name)
	case err != nil:
		return fmt.Errorf("%s is not kept in %s: %w", shownSecretName(name), where, err)
	}
	if err := other(); err != nil && !isMissing(err) {
		e.Warn(fmt.Sprintf("an older value of %s may be kept in the other place: %v", shownSecretName(name), err))
	}
	fmt.Fprintf(e.Err, "%s is kept in %s.\n", shownSecretName(name), where)
	return nil
}

// readSecret asks for a value without showing it, or reads it from standard input where nobody types.
func readSecret(ctx context.Context, e *cli.Environment, prompt string) (string, error) {
	in, isFile := e.In.(*os.File)
	if !isFile || !terminal.Is(e.In) {
		data, err := io.ReadAll(io.LimitReader(e.Input(ctx), secrets.MaxSize+3))
		return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), err
	}
	shown, err := term.GetState(int(in.Fd()))
	if err != nil {
		return "", err
	}
	fmt.Fprint(e.Err, prompt)
	type line struct {
		text []byte
		err  error
	}
	typed := make(chan line, 1)
	resumed, unsubscribe := terminal.Resumed()
	defer unsubscribe()
	go func() {
		text, err := term.ReadPassword(int(in.Fd()))
		typed <- line{text, err}
	}()
	for {
		select {
		case <-resumed: // The shell has let the terminal show again what is typed.
			if err := terminal.Hide(in); err != nil {
				return "", err
			}
			fmt.Fprint(e.Err, prompt)
		case l := <-typed:
			fmt.Fprintln(e.Err)
			if errors.Is(l.err, io.EOF) {
				return "", errors.New("nothing was typed")
			}
			return string(l.text), l.err
		case <-ctx.Done():
			_ = term.Restore(int(in.Fd()), shown) // the terminal is to show again what is typed
			fmt.Fprintln(e.Err)
			return "", context.Cause(ctx)
		}
	}
}

func secretRemoveCommand(env *cli.Environment) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "rm NAME...",
		Short: "Forget secrets",
		Long: `Rm removes secrets, with --user those of one user. Running servers that got them keep
them until they end.`,
		Example:           `  workbench secret rm GITHUB_TOKEN`,
		Args:              cli.Between(1, -1),
		ValidArgsFunction: cli.OfferEach(func() []string { return cli.SecretNames(env) }),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range args {
				if err := keepsSecret(env, name); err != nil {
					return err
				}
				name = cli.UserSecret(name, user)
				if err := removeSecret(cmd.Context(), env, name); err != nil {
					return err
				}
				fmt.Fprintf(env.Err, "%s is removed.\n", shownSecretName(name))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "remove those of this `user`")
	return cmd
}

func removeSecret(ctx context.Context, e *cli.Environment, name string) error {
	removed := slices.DeleteFunc([]error{cli.SecretFile(e).Remove(ctx, name), cli.Keychain(e).Remove(ctx, name)}, isMissing)
	if len(removed) == 0 {
		return cli.Hint(fmt.Errorf("there is no secret %s", shownSecretName(name)), "workbench secret list shows them")
	}
	return errors.Join(removed...)
}

// isMissing reports whether an error says that a secret is not in one of the two places.
func isMissing(err error) bool {
	return errors.Is(err, secrets.ErrNotSet) || errors.Is(err, secrets.ErrNoKeychain)
}
