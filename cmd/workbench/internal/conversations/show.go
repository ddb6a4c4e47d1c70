package conversations

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/kept"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/store"
)

func conversationsListCommand(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List conversations, the latest first",
		Long:  "List prints the conversations, the one with the latest turn first. Times are those of your clock.",
		Example: `  workbench conversations list
  workbench conversations list --user ada --limit 100 --json`,
		Args: cli.NoArgs,
	}
	return kept.Conversations.Listing(env, cmd, func(ctx context.Context, s *store.Store, user string, _ []string, limit int) (kept.List, error) {
		found, err := s.Latest(ctx, user, limit)
		if err != nil {
			return kept.List{}, err
		}
		list := kept.List{Header: "ID\tUSER\tWORKFLOW\tTURNS\tUPDATED\tTOPIC", Shown: []any{}}
		for _, c := range found {
			list.Shown = append(list.Shown, showConversation(c))
			topic := cmp.Or(c.Topic, "(open)")
			if c.Damaged {
				topic = "(damaged)"
			}
			list.Rows = append(list.Rows, []string{c.ID, c.Principal, c.Workflow, fmt.Sprint(c.Turns), terminal.Moment(c.Updated), topic})
		}
		if i := firstToGo(found); i >= 0 {
			list.More = fmt.Sprintf("; the next to be deleted is %s, at %s (store.keepFor)", foreign.NewText(found[i].ID), terminal.Moment(found[i].Expires))
		}
		return list, nil
	})
}

// shownConversation is a conversation as JSON.
type shownConversation struct {
	Principal string          `json:"user_id"`
	ID        string          `json:"conversation_id"`
	Client    string          `json:"client"`
	Workflow  string          `json:"workflow"`
	Topic     string          `json:"topic"`
	Summary   string          `json:"summary"`
	Turns     int             `json:"turns"`
	Created   time.Time       `json:"created_at"`
	Updated   time.Time       `json:"updated_at"`
	Expires   *time.Time      `json:"expires_at,omitempty"`
	State     json.RawMessage `json:"state,omitempty"`
	Damaged   bool            `json:"damaged,omitempty"` // nothing but the id is certain
}

func showConversation(c store.Owned) shownConversation {
	var expires *time.Time
	if !c.Expires.IsZero() {
		expires = &c.Expires
	}
	return shownConversation{c.Principal, c.ID, c.Client, c.Workflow, c.Topic, c.Summary, c.Turns, c.Created, c.Updated, expires, c.State, c.Damaged}
}

// firstToGo finds the conversation that is deleted first, -1 for none.
func firstToGo(list []store.Owned) int {
	first := -1
	for i, c := range list {
		if !c.Expires.IsZero() && (first < 0 || c.Expires.Before(list[first].Expires)) {
			first = i
		}
	}
	return first
}

func conversationsShowCommand(env *cli.Environment) *cobra.Command {
	var user string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show the turns of a conversation",
		Long: `Show prints a conversation with all its turns. Times are those of your clock.
Outputs and traces are left out; --json includes them.`,
		Example: `  workbench conversations show 3f0c9a1be7d24c5f8a6b0d1e2f3a4b5c
  workbench conversations show 3f0c9a1be7d24c5f8a6b0d1e2f3a4b5c --json`,
		Args:              cli.Between(1, 1),
		ValidArgsFunction: cli.Offer(kept.IDs(env, kept.Conversations)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return kept.With(cmd.Context(), env, false, func(s *store.Store) error {
				for key, err := range s.Select(cmd.Context(), store.Selection{Principal: user, IDs: args}) {
					if err == nil {
						err = show(cmd.Context(), env.Out, s, key, asJSON)
					}
					if err != nil {
						return kept.Conversations.NotThere(err)
					}
				}
				return nil
			})
		},
	}
	kept.Conversations.AddUser(cmd, &user)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func show(ctx context.Context, out io.Writer, s *store.Store, key store.Key, asJSON bool) error {
	c, err := s.Conversation(ctx, key.Principal, key.ID)
	if err != nil {
		return err
	}
	turns, err := s.Turns(ctx, key.Principal, key.ID, 0)
	if err != nil {
		return err
	}
	shown := showConversation(store.Owned{Principal: key.Principal, Conversation: c})
	if asJSON {
		return terminal.PrintJSON(out, struct {
			shownConversation
			Turns []store.Turn `json:"turns"`
		}{shown, turns})
	}
	for _, line := range [][2]string{{"user", shown.Principal}, {"client", c.Client}, {"workflow", c.Workflow}, {"topic", c.Topic}, {"summary", c.Summary}} {
		if line[1] != "" {
			fmt.Fprintf(out, "%-9s %s\n", line[0], terminal.Hanging(line[1], 10))
		}
	}
	for i, t := range turns {
		fmt.Fprintf(out, "\n%d  %s  %s\n", i+1, terminal.Moment(t.Ended), foreign.NewText(strings.TrimSpace(t.Kind+" "+t.Status)))
		fmt.Fprintf(out, "   > %s\n", terminal.Hanging(t.Message, 5))
		if t.Summary != "" {
			fmt.Fprintf(out, "   %s\n", terminal.Hanging(t.Summary, 3))
		}
		if f := t.Feedback; f != nil {
			fmt.Fprintf(out, "   feedback:%s\n", terminal.Hanging(feedback(f), 3))
		}
	}
	return nil
}

func feedback(f *store.Feedback) string {
	var text string
	if f.Score != nil {
		text = fmt.Sprintf(" %g", *f.Score)
	}
	if f.Text != nil {
		text += " " + *f.Text
	}
	return text
}

func conversationsDeleteCommand(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete ID...",
		Short: "Delete conversations for good",
		Long: `Delete removes conversations with all their turns. They can be restored only from an
export.`,
		Example: "  workbench conversations delete 3f0c9a1be7d24c5f8a6b0d1e2f3a4b5c",
	}
	find := func(ctx context.Context, s *store.Store, user string, ids []string) (keys []store.Key, _ error) {
		for key, err := range s.Select(ctx, store.Selection{Principal: user, IDs: ids}) {
			if err != nil {
				return nil, err
			}
			keys = append(keys, key)
		}
		return keys, nil
	}
	return kept.Conversations.Deleting(env, cmd, find, func(ctx context.Context, s *store.Store, key store.Key) error {
		return s.Delete(ctx, key.Principal, key.ID)
	})
}
