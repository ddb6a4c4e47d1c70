package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// loginTime is how long a login may take.
const loginTime = 10 * time.Minute

func loginCommand(env *environment) *cobra.Command {
	var (
		open bool
		port int
	)
	cmd := &cobra.Command{
		Use:   "login TOOLBOX/SERVER",
		Short: "Log in to a remote server that wants it",
		Long: `Login prints an address to open in a browser of this machine, and waits until you
have consented there. What it gets is kept in files that only you can read, and
renewed without you; a workbench that is running uses it at once.

Run it again when a server wants more than you have consented to.`,
		Example: `  workbench login dev/github
  workbench login dev/github --open`,
		Args:              between(1, 1),
		ValidArgsFunction: env.offer(env.serverNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return env.login(cmd.Context(), args[0], open, port)
		},
	}
	cmd.Flags().BoolVar(&open, "open", false, "open the address in the browser")
	cmd.Flags().IntVar(&port, "port", 0, "the `port` of http://127.0.0.1:PORT/callback, if you registered the client with that (0: any)")
	return cmd
}

func logoutCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "logout TOOLBOX/SERVER",
		Short: "Forget the login to a remote server",
		Long: `Logout tells the authorization server that the tokens are not needed any more, if
it wants to know, and removes them from this machine.`,
		Example:           `  workbench logout dev/github`,
		Args:              between(1, 1),
		ValidArgsFunction: env.offer(env.serverNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return env.logout(cmd.Context(), args[0])
		},
	}
}

func (e *environment) login(ctx context.Context, name string, open bool, port int) error {
	if port < 0 || port > 65535 {
		return usageError{errors.New("--port must be from 0 to 65535")}
	}
	client, err := e.loginClient(ctx, name)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, fmt.Errorf("nobody logged in within %s", loginTime))
	var browser sync.WaitGroup
	defer browser.Wait()
	defer cancel()
	scopes, err := client.Login(ctx, oauth.LoginOptions{Port: port, Show: func(address string) error {
		fmt.Fprintf(e.err, "Open this address in a browser of this machine to log in to %s:\n\n", name)
		if _, err := fmt.Fprintln(e.out, address); err != nil {
			return err
		}
		fmt.Fprintln(e.err)
		if open {
			browser.Go(func() {
				if err := e.browse(ctx, address); err != nil {
					fmt.Fprintf(e.err, "workbench: %v\n", err) // the address can still be opened by hand
				}
			})
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("login to %s: %w", name, err)
	}
	fmt.Fprintf(e.err, "Logged in to %s", name)
	if len(scopes) > 0 {
		fmt.Fprintf(e.err, " with %s", join(scopes))
	}
	fmt.Fprintln(e.err, ".")
	return nil
}

func (e *environment) logout(ctx context.Context, name string) error {
	client, err := e.loginClient(ctx, name)
	if err != nil {
		return err
	}
	defer client.Close()
	was, err := client.Logout(ctx)
	if err != nil {
		return fmt.Errorf("logout from %s: %w", name, err)
	}
	if !was {
		fmt.Fprintf(e.err, "There was no login to %s.\n", name)
		return nil
	}
	fmt.Fprintf(e.err, "Logged out from %s.\n", name)
	return nil
}

// logins is where logins are kept; nil if there is no place for them.
func (e *environment) logins() *oauth.Store {
	dir, err := e.stateDir()
	if err != nil {
		return nil
	}
	return oauth.NewStore(filepath.Join(dir, "logins"))
}

// loginClient finds the server that a name is of, and what logs in to it.
func (e *environment) loginClient(ctx context.Context, name string) (*oauth.Client, error) {
	cfg, _, err := e.load()
	if err != nil {
		return nil, err
	}
	server, err := remoteServer(cfg, name)
	if err != nil {
		return nil, err
	}
	if _, err := e.stateDir(); err != nil {
		return nil, hinted{fmt.Errorf("there is no place for the login: %w", err), "set HOME or XDG_STATE_HOME"}
	}
	whole, err := e.revealedServer(ctx, server)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if whole.URL != server.URL {
		return nil, hinted{fmt.Errorf("%s has a secret in its url, which lets workbench in instead of a login", name), "put the secret into headers, or take it out, to log in"}
	}
	client := remote.NewLogin(whole, remote.Options{
		Logins: e.logins(), HTTP: remote.Client(e.environ), Environ: e.environ, Secret: e.secret})
	if client == nil {
		return nil, hinted{fmt.Errorf("%s has a header Authorization in the configuration, which is sent instead of a login", name), "take it out there to log in"}
	}
	return client, nil
}

// remoteServer finds a remote server of the configuration.
func remoteServer(cfg *config.Config, name string) (*config.Server, error) {
	box, rest, ok := strings.Cut(name, "/")
	if !ok || box == "" || rest == "" {
		return nil, usageError{hinted{fmt.Errorf("%q does not name a server", name), "write TOOLBOX/SERVER"}}
	}
	t, ok := cfg.Toolbox(box)
	if !ok {
		return nil, unknownToolbox(cfg, box)
	}
	var known []string
	for i := range t.Servers {
		if t.Servers[i].URL != "" {
			known = append(known, t.Servers[i].Name)
		}
	}
	server, ok := t.Server(rest)
	switch {
	case !ok && len(known) == 0:
		return nil, usageError{fmt.Errorf("toolbox %q has no server %q, and no remote server at all", box, rest)}
	case !ok:
		hint := "its remote servers are: " + join(known)
		if near := nearest.Names(rest, known, 1); near != nil {
			hint = fmt.Sprintf("did you mean %q? %s", near[0], hint)
		}
		return nil, usageError{hinted{fmt.Errorf("toolbox %q has no server %q", box, rest), hint}}
	case server.Problem != nil:
		return nil, server.Problem
	case server.URL == "":
		return nil, usageError{hinted{fmt.Errorf("%s is no remote server", name), `logins are for servers with a "url"; others get what they need by "env" or "args"`}}
	}
	return server, nil
}
