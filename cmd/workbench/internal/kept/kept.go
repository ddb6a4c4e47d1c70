// Package kept has what commands about conversations and runs share: the store, lists, exports and what a shell
// completes.
package kept

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/store"
)

// Kind is one of what the store keeps. Its methods make the commands that administer it, of which the caller gives the
// words.
type Kind string

const (
	Conversations Kind = "conversation"
	Runs          Kind = "run"
)

// NotThere adds advice to an error about one that is not there.
func (k Kind) NotThere(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return cli.Hint(err, fmt.Sprintf("workbench %ss list shows them", k))
	}
	return err
}

// AddUser adds the flag that says whose are meant.
func (k Kind) AddUser(cmd *cobra.Command, user *string) {
	cmd.Flags().StringVar(user, "user", "", fmt.Sprintf("only %ss of this `user`", k))
}

// List is a list as it is printed.
type List struct {
	Header string     // of the columns
	Rows   [][]string // as others wrote them
	Shown  []any      // the same as JSON
	More   string     // said behind how many there are
}

// Listing makes the command that lists, the latest first. find is asked for one more than will be shown, to know whether
// there are more, and may give any number.
func (k Kind) Listing(env *cli.Environment, cmd *cobra.Command, find func(ctx context.Context, s *store.Store, user string, words []string, limit int) (List, error)) *cobra.Command {
	var user string
	var limit int
	var asJSON bool
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if limit < 1 {
			return cli.Usage(fmt.Errorf("--limit: want a number from 1, got %d", limit))
		}
		list := List{Shown: []any{}}
		err := With(cmd.Context(), env, false, func(s *store.Store) (err error) {
			list, err = find(cmd.Context(), s, user, words, min(limit, math.MaxInt32-1)+1)
			return err
		})
		if len(list.Rows) > limit {
			list.Rows, list.Shown, list.More = list.Rows[:limit], list.Shown[:limit], "; there are more, which a greater --limit shows"
		}
		switch {
		case err != nil && !errors.Is(err, ErrNone):
			return err
		case asJSON:
			return terminal.PrintJSON(env.Out, list.Shown)
		}
		return k.Print(env, list)
	}
	k.AddUser(cmd, &user)
	cmd.Flags().IntVar(&limit, "limit", 20, "how many at most")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}

// Print prints a list as a table.
func (k Kind) Print(env *cli.Environment, list List) error {
	t := terminal.Table{Head: strings.Split(list.Header, "\t")}
	for _, row := range list.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = foreign.NewText(cell).String()
		}
		t.Add(cells...)
	}
	if err := env.Print(&t); err != nil {
		return err
	}
	_, err := fmt.Fprintln(env.Out, terminal.Count(len(list.Rows), string(k))+list.More)
	return err
}

// Exporting makes the command that writes those named, or all. write says in words what it has written; its first error
// is that of an export which goes on in spite of it.
func (k Kind) Exporting(env *cli.Environment, cmd *cobra.Command, write func(ctx context.Context, s *store.Store, to io.Writer, user string, ids []string) (said string, spite, err error)) *cobra.Command {
	var user, output string
	cmd.Args, cmd.ValidArgsFunction = cli.Between(0, -1), cli.OfferEach(IDs(env, k))
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		return With(cmd.Context(), env, false, func(s *store.Store) error {
			if output == "" {
				_, spite, err := write(cmd.Context(), s, env.Out, user, ids)
				return k.NotThere(errors.Join(spite, err))
			}
			var said string
			var spite error
			err := openfile.Write(output, func(f *os.File) (err error) { // The file is there whole or not at all.
				said, spite, err = write(cmd.Context(), s, f, user, ids)
				return err
			})
			if err := errors.Join(spite, err); err != nil {
				return k.NotThere(err)
			}
			fmt.Fprintf(env.Out, "%s in %s\n", said, output)
			return nil
		})
	}
	k.AddUser(cmd, &user)
	cmd.Flags().StringVar(&output, "output", "", "write to this `file`, for this user alone to read, instead of standard output")
	return cmd
}

// Importing makes the command that reads what export wrote. read says in words what it has kept, also beside an error.
func (k Kind) Importing(env *cli.Environment, cmd *cobra.Command, read func(ctx context.Context, s *store.Store, from io.Reader, user string) (said string, err error)) *cobra.Command {
	var user string
	cmd.Args = cli.Between(1, 1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		from := env.In
		if args[0] != "-" {
			f, _, err := openfile.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			from = f
		}
		return With(cmd.Context(), env, true, func(s *store.Store) error {
			said, err := read(cmd.Context(), s, from, user)
			fmt.Fprintln(env.Out, said)
			if errors.As(err, new(*store.InvalidError)) {
				return cli.Hint(err, "export writes what import reads; what came before this line has been kept")
			}
			return err
		})
	}
	cmd.Flags().StringVar(&user, "user", "", "keep all of them for this `user` (default: each for its own user)")
	return cmd
}

// Deleting makes the command that deletes those named, all of which are looked up before one is deleted.
func (k Kind) Deleting(env *cli.Environment, cmd *cobra.Command, find func(ctx context.Context, s *store.Store, user string, ids []string) ([]store.Key, error),
	remove func(ctx context.Context, s *store.Store, key store.Key) error) *cobra.Command {
	var user string
	cmd.Args, cmd.ValidArgsFunction = cli.Between(1, -1), cli.OfferEach(IDs(env, k))
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		return With(cmd.Context(), env, false, func(s *store.Store) error {
			keys, err := find(cmd.Context(), s, user, ids)
			if err != nil {
				return k.NotThere(err)
			}
			for _, key := range keys {
				if err := remove(cmd.Context(), s, key); err != nil {
					return fmt.Errorf("%s %s: %w", k, key.ID, err)
				}
				fmt.Fprintf(env.Out, "deleted %s\n", foreign.NewText(key.ID))
			}
			return nil
		})
	}
	k.AddUser(cmd, &user)
	return cmd
}

// mostOffered is how many ids a shell is offered, the latest.
const mostOffered = 200

// IDs are the ids of what is kept in the store, if there is one.
func IDs(e *cli.Environment, k Kind) func() []string {
	return func() (ids []string) {
		defer e.Quiet()()
		ctx := context.Background()
		_ = With(ctx, e, false, func(s *store.Store) error {
			if k == Conversations {
				list, err := s.Latest(ctx, "", mostOffered)
				for _, c := range list {
					ids = append(ids, c.ID)
				}
				return err
			}
			list, err := s.Runs(ctx, "", mostOffered)
			for _, r := range list {
				ids = append(ids, r.ID)
			}
			return err
		})
		return ids
	}
}
