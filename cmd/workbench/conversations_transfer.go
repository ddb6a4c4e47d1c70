package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/store"
)

func conversationsExportCommand(env *environment) *cobra.Command {
	var user, output string
	cmd := &cobra.Command{
		Use:   "export [ID...]",
		Short: "Write conversations as lines of JSON",
		Long: `Export writes all conversations, or those named, with their turns to standard
output, one JSON object a line; import reads them. With all of them come the
corrections that users have made. Programs that use the store may go on.`,
		Example: `  workbench conversations export --output backup.jsonl
  workbench conversations export --user ada | gzip > ada.jsonl.gz`,
		Args: between(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			sel := store.Selection{Principal: user}
			if len(args) > 0 {
				sel.IDs = args
			}
			return env.withStore(cmd.Context(), false, func(s *store.Store) error {
				if output == "" {
					_, err := s.Export(cmd.Context(), env.out, sel)
					return notThere(err)
				}
				counts, err := exportFile(cmd.Context(), s, output, sel)
				if err != nil {
					return notThere(err)
				}
				fmt.Fprintf(env.out, "%s with %s in %s\n", count(counts.Conversations, "conversation"), count(counts.Turns, "turn"), output)
				return nil
			})
		},
	}
	addUser(cmd, &user)
	cmd.Flags().StringVar(&output, "output", "", "write to this `file`, for this user alone to read, instead of standard output")
	return cmd
}

// exportFile writes a file that is there whole or, but for damaged
// conversations, not at all.
func exportFile(ctx context.Context, s *store.Store, path string, sel store.Selection) (counts store.Counts, err error) {
	var rest error // of an export that goes on in spite of it
	err = openfile.Write(path, func(f *os.File) (err error) {
		counts, err = s.Export(ctx, f, sel)
		if errors.As(err, new(*store.CorruptError)) {
			rest, err = err, nil
		}
		return err
	})
	return counts, errors.Join(rest, err)
}

func conversationsImportCommand(env *environment) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Read conversations that export wrote",
		Long: `Import reads a file that export wrote, or standard input if FILE is -, and
keeps its conversations. Those that are there already are left as they are, so
an import that was interrupted can be run again. With --user they are that
user's from then on, whoever's they were.`,
		Example: `  workbench conversations import backup.jsonl
  gunzip < ada.jsonl.gz | workbench conversations import -
  workbench conversations export --user ada |
    workbench conversations import --user ada@https://login.example.com -`,
		Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := env.in
			if args[0] != "-" {
				f, _, err := openfile.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			return env.withStore(cmd.Context(), true, func(s *store.Store) error { return importFrom(cmd.Context(), env.out, s, in, user) })
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "keep all of them for this `user` (default: each for the user whose it was)")
	return cmd
}

func importFrom(ctx context.Context, out io.Writer, s *store.Store, in io.Reader, user string) error {
	counts, err := s.Import(ctx, in, user)
	fmt.Fprintf(out, "%s with %s kept", count(counts.Conversations, "conversation"), count(counts.Turns, "turn"))
	if counts.Skipped > 0 {
		fmt.Fprintf(out, ", %d left as they were", counts.Skipped)
	}
	fmt.Fprintln(out)
	var invalid *store.InvalidError
	if errors.As(err, &invalid) {
		return hinted{err, "export writes what import reads; what came before this line has been kept"}
	}
	return err
}
