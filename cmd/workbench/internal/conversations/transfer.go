package conversations

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/kept"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/store"
)

func conversationsExportCommand(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export [ID...]",
		Short: "Write conversations as lines of JSON",
		Long: `Export writes all conversations, or those that are named, with their turns to
standard output, one JSON object a line; import reads them. An export of all
conversations also has the corrections that users have made. Other programs may use
the store at the same time.`,
		Example: `  workbench conversations export --output backup.jsonl
  workbench conversations export --user ada | gzip > ada.jsonl.gz`,
	}
	return kept.Conversations.Exporting(env, cmd, func(ctx context.Context, s *store.Store, to io.Writer, user string, ids []string) (said string, spite, err error) {
		sel := store.Selection{Principal: user}
		if len(ids) > 0 {
			sel.IDs = ids
		}
		counts, err := s.Export(ctx, to, sel)
		if errors.As(err, new(*store.CorruptError)) {
			spite, err = err, nil // what is damaged is left out
		}
		return fmt.Sprintf("%s with %s", terminal.Count(counts.Conversations, "conversation"), terminal.Count(counts.Turns, "turn")), spite, err
	})
}

func conversationsImportCommand(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Read conversations that export wrote",
		Long: `Import reads a file that export wrote, or standard input if FILE is -, and stores
its conversations. Existing conversations are not changed, so an interrupted import can
be run again. With --user all of them then belong to that user.`,
		Example: `  workbench conversations import backup.jsonl
  gunzip < ada.jsonl.gz | workbench conversations import -
  workbench conversations export --user ada |
    workbench conversations import --user ada@https://login.example.com -`,
	}
	return kept.Conversations.Importing(env, cmd, func(ctx context.Context, s *store.Store, from io.Reader, user string) (string, error) {
		counts, err := s.Import(ctx, from, user)
		said := fmt.Sprintf("%s with %s kept", terminal.Count(counts.Conversations, "conversation"), terminal.Count(counts.Turns, "turn"))
		if counts.Skipped > 0 {
			said += fmt.Sprintf(", %d left as they were", counts.Skipped)
		}
		return said, err
	})
}
