package secret

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
)

func secretProtectCommand(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "passphrase",
		Short: "Set the passphrase of the encrypted file",
		Long: `Passphrase asks for a passphrase and encrypts the key of the encrypted file with it.
An empty passphrase stores the key unencrypted again. A key with a passphrase must be
unlocked once after each login, with workbench secret unlock.`,
		Example: `  workbench secret passphrase`,
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := keepsSecret(env, "passphrase"); err != nil {
				return err
			}
			passphrase, err := readSecret(cmd.Context(), env, "New passphrase: ")
			if err != nil {
				return err
			}
			if terminal.Is(env.In) {
				again, err := readSecret(cmd.Context(), env, "Once more: ")
				if err != nil {
					return err
				}
				if again != passphrase {
					return errors.New("the two passphrases differ; the key is as it was")
				}
			}
			if err := cli.SecretFile(env).Protect(cmd.Context(), passphrase); err != nil {
				return err
			}
			fmt.Fprintln(env.Err, "The passphrase is set.")
			return nil
		},
	}
}

func secretUnlockCommand(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "unlock",
		Short: "Unlock the encrypted file until you log out",
		Long: `Unlock asks for the passphrase of the encrypted file, and keeps its key in
$XDG_RUNTIME_DIR, which is in memory and is removed when you log out.`,
		Example: `  workbench secret unlock`,
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file := cli.SecretFile(env)
			if err := file.Locked(); err != nil {
				return err
			}
			passphrase, err := readSecret(cmd.Context(), env, "Passphrase: ")
			if err != nil {
				return err
			}
			if err := file.Unlock(passphrase); err != nil {
				return err
			}
			fmt.Fprintln(env.Err, "The secrets are unlocked until you log out.")
			return nil
		},
	}
}
