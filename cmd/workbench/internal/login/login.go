// Package login has the commands that log in to remote servers, and out.
package login

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// loginTime is how long a login may take.
const loginTime = 10 * time.Minute

func Login(env *cli.Environment) *cobra.Command {
	var (
		open bool
		port int
	)
	cmd := &cobra.Command{
		Use:   "login TOOLBOX/SERVER",
		Short: "Log in to a remote server that wants it",
		Long: `Login prints an address. Open it in a browser of this machine and agree there; login
waits until you have. The tokens are kept in files that only you can read, and are
renewed without you. A running workbench uses them at once.

Run login again when a server wants more rights than you have agreed to.`,
		Example: `  workbench login dev/github
  workbench login dev/github --open`,
		Args:              cli.Between(1, 1),
		ValidArgsFunction: cli.Offer(env.ServerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return login(cmd.Context(), env, args[0], open, port)
		},
	}
	cmd.Flags().BoolVar(&open, "open", false, "open the address in the browser")
	cmd.Flags().IntVar(&port, "port", 0, "the `port` of http://127.0.0.1:PORT/callback, if you registered the client with that (0: any)")
	return cmd
}

func Logout(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "logout TOOLBOX/SERVER",
		Short: "Remove the login to a remote server",
		Long: `Logout removes the tokens from this machine, and tells the authorization server that
they are no longer needed, if it supports that.`,
		Example:           `  workbench logout dev/github`,
		Args:              cli.Between(1, 1),
		ValidArgsFunction: cli.Offer(env.ServerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return logout(cmd.Context(), env, args[0])
		},
	}
}

func login(ctx context.Context, e *cli.Environment, name string, open bool, port int) error {
	if port < 0 || port > 65535 {
		return cli.Usage(errors.New("--port must be from 0 to 65535"))
	}
	client, err := loginClient(ctx, e, name)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, fmt.Errorf("nobody logged in within %s", loginTime))
	var browser sync.WaitGroup
	defer browser.Wait()
	defer cancel()
	scopes, err := client.Login(ctx, oauth.LoginOptions{Port: port, Show: func(address string) error {
		fmt.Fprintf(e.Err, "Open this address in a browser of this machine to log in to %s:\n\n", name)
		if _, err := fmt.Fprintln(e.Out, address); err != nil {
			return err
		}
		fmt.Fprintln(e.Err)
		if open {
			browser.Go(func() {
				if err := cli.Browse(ctx, e, address); err != nil {
					fmt.Fprintf(e.Err, "workbench: %v\n", err) // the address can still be opened by hand
				}
			})
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("login to %s: %w", name, err)
	}
	fmt.Fprintf(e.Err, "Logged in to %s", name)
	if len(scopes) > 0 {
		fmt.Fprintf(e.Err, " with %s", strings.Join(scopes, ", "))
	}
	fmt.Fprintln(e.Err, ".")
	return nil
}

func logout(ctx context.Context, e *cli.Environment, name string) error {
	client, err := loginClient(ctx, e, name)
	if err != nil {
		return err
	}
	defer client.Close()
	was, err := client.Logout(ctx)
	if err != nil {
		return fmt.Errorf("logout from %s: %w", name, err)
	}
	if !was {
		fmt.Fprintf(e.Err, "There was no login to %s.\n", name)
		return nil
	}
	fmt.Fprintf(e.Err, "Logged out from %s.\n", name)
	return nil
}

// loginClient finds the server that a name is of, and what logs in to it.
func loginClient(ctx context.Context, e *cli.Environment, name string) (*oauth.Client, error) {
	cfg, _, err := e.Load()
	if err != nil {
		return nil, err
	}
	server, err := remoteServer(cfg, name)
	if err != nil {
		return nil, err
	}
	if _, err := e.StateDir(); err != nil {
		return nil, cli.Hint(fmt.Errorf("there is no place for the login: %w", err), "set HOME or XDG_STATE_HOME")
	}
	whole, err := e.RevealedServer(ctx, server)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if whole.URL != server.URL {
		return nil, cli.Hint(fmt.Errorf("%s has a secret in its url, which is used instead of a login", name), "to log in, move the secret into headers, or remove it")
	}
	client := remote.NewLogin(whole, remote.Options{
		Logins: cli.Logins(e), HTTP: remote.Client(e.Environ), Environ: e.Environ, Secret: e.Secret})
	if client == nil {
		return nil, cli.Hint(fmt.Errorf("%s has a header Authorization in the configuration, which is sent instead of a login", name), "to log in, remove it there")
	}
	return client, nil
}

func isRemote(s *config.Server) bool { return s.URL != "" }

// remoteServer finds a remote server of the configuration.
func remoteServer(cfg *config.Config, name string) (*config.Server, error) {
	server, err := cli.Server(cfg, name, isRemote)
	if err == nil && !isRemote(server) {
		err = cli.Usage(cli.Hint(fmt.Errorf("%s is not a remote server", name), `logins are for servers with a "url"; others get their credentials by "env" or "args"`))
	}
	return server, err
}
