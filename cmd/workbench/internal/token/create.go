package token

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/tokenfile"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/tokens"
)

// createdToken is a token that was just made, as JSON.
type createdToken struct {
	shownToken
	Token string `json:"token"`
}

func tokenCreateCommand(env *cli.Environment) *cobra.Command {
	var (
		user, expires string
		toolboxes     []string
		admin, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a token for one client",
		Long: `Create makes a token for one client of workbench serve --http and prints it. It is
shown only this once, because only its digest is kept. A running workbench accepts it
within a second.

NAME is for workbench token list and revoke. Requests with the token are made for the
user of that name, or for the one in --user. Conversations and sessions belong to a
user, and other users cannot reach them. With --toolbox the client can use only these
toolboxes. --admin lets it act for other users and read /metrics.`,
		Example: `  workbench token create laptop --user ada
  workbench token create ci --toolbox dev --toolbox docs --expires 30d`,
		Args: cli.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t := tokens.Token{Name: args[0], Principal: user, Toolboxes: unique(toolboxes), Admin: admin}
			if user == "" {
				t.Principal = t.Name
			}
			var err error
			if t.Expires, err = expiry(expires, time.Now()); err != nil {
				return err
			}
			if err := checkToken(env, &t); err != nil {
				return err
			}
			file, err := tokenfile.OfClients(env)
			if err != nil {
				return err
			}
			secret, err := file.Create(cmd.Context(), t)
			if errors.Is(err, tokens.ErrExists) {
				return cli.Hint(err, "give another name, or remove that one: workbench token revoke "+t.Name)
			} else if err != nil {
				return err
			}
			if asJSON {
				return terminal.PrintJSON(env.Out, createdToken{showTokens([]tokens.Token{t})[0], secret})
			}
			fmt.Fprintf(env.Err, "The token of %s, which %s. It is not shown again.\n", foreign.NewText(t.Principal), ends(t.Expires))
			_, err = fmt.Fprintln(env.Out, secret)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&user, "user", "", "the `user` that requests are made for (default: NAME)")
	f.StringArrayVar(&toolboxes, "toolbox", nil, "a `toolbox` that the token may use; may be given more than once (default: all)")
	cli.OfferFlag(cmd, "toolbox", cli.OfferEach(env.ToolboxNames))
	f.BoolVar(&admin, "admin", false, "let it act for other users and read /metrics")
	f.BoolVar(&asJSON, "json", false, "print one JSON object with the token and what it is for")
	f.StringVar(&expires, "expires", "90d", "how long it is valid: a `time` such as 12h or 30d, or never")
	return cmd
}

// unique leaves of each name the first.
func unique(names []string) (all []string) {
	for _, name := range names {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// checkToken refuses what a token should not be made with.
func checkToken(e *cli.Environment, t *tokens.Token) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`).MatchString(t.Name) {
		return cli.Usage(cli.Hint(fmt.Errorf("%q is not a name for a token", t.Name), "want at most 64 letters, digits, dots, hyphens and underscores, as in ci-runner"))
	}
	if len(t.Principal) > 512 || !utf8.ValidString(t.Principal) || foreign.NewText(t.Principal).String() != t.Principal {
		return cli.Usage(cli.Hint(fmt.Errorf("--user: %q is not a name for a user", t.Principal), "want at most 512 bytes without control characters"))
	}
	cfg, _, err := e.Load()
	if err != nil {
		return err
	}
	if issuer := cfg.HTTP.JWT.Issuer; issuer != "" && strings.HasSuffix(t.Principal, "@"+issuer) {
		return cli.Usage(cli.Hint(fmt.Errorf("--user: %q is a user of the issuer in the configuration, and only the issuer gives out tokens for its users", t.Principal), "give another name"))
	}
	for _, name := range t.Toolboxes {
		if _, ok := cfg.Toolbox(name); !ok {
			return cli.Advised(fmt.Errorf("--toolbox: %w", cfg.UnknownToolbox(name)))
		}
	}
	return nil
}

// expiry reads when a token ends; the zero time is never.
func expiry(text string, now time.Time) (time.Time, error) {
	if text == "never" {
		return time.Time{}, nil
	}
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
		if n > 36500 {
			err = errors.New("too long")
		}
	}
	if err != nil || d <= 0 {
		return time.Time{}, cli.Usage(cli.Hint(fmt.Errorf("--expires: %q is not a time", text), "want a number of days or hours, as in 30d or 12h, or never"))
	}
	return now.Add(d).UTC().Truncate(time.Second), nil
}

// ends says when a token does.
func ends(t time.Time) string {
	if t.IsZero() {
		return "does not expire"
	}
	return "expires at " + t.Format(time.RFC3339)
}
