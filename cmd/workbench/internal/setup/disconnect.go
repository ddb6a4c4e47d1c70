package setup

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/amend"
)

func Disconnect(env *cli.Environment) *cobra.Command {
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "disconnect [CLIENT]…",
		Short: "Remove workbench from the files of MCP clients",
		Long: `Disconnect removes the entry of workbench from the files of MCP clients: those that
are named, or all. A file that nobody else has changed since workbench connect
becomes what it was before, byte for byte; from other files only the entry is removed.
It shows the changes and asks first.`,
		Example: `  workbench disconnect
  workbench disconnect cursor`,
		ValidArgsFunction: completeClients,
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, err := chosen(env, args)
			if err != nil {
				return err
			}
			var todo []written
			unable := false
			for _, w := range chosen {
				there := false
				if there, err = w.connected(w.old); err == nil && !there {
					if len(args) > 0 {
						fmt.Fprintf(env.Out, "%s: not connected (%s)\n", w.client.Title, cli.Shown(w.path))
					}
					continue
				}
				if err == nil {
					w.new, err = entryBefore(env, w)
				}
				if err != nil {
					if err := leftOut(env, w.client, err, len(args) > 0); err != nil {
						return err
					}
					unable = true
					continue
				}
				todo = append(todo, w)
			}
			if err := rewriteFiles(cmd.Context(), env, todo, dryRun, yes); err != nil || dryRun {
				return err
			}
			for _, w := range todo {
				fmt.Fprintf(env.Out, "%s: disconnected (%s)\n", w.client.Title, cli.Shown(w.path))
			}
			if len(todo) == 0 && len(args) == 0 && !unable {
				fmt.Fprintln(env.Out, "no client is connected")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&dryRun, "dry-run", false, "show the changes, and write nothing")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// connected reports whether a text has an entry of workbench; the error says that the text cannot be read.
func (w *written) connected(text []byte) (bool, error) {
	at, own := w.client.OwnPlace(w.path, text)
	if !own {
		_, err := amend.Get(text, at)
		return false, err
	}
	return true, nil
}

// entryBefore is a file without the entry: as it was before connect, where nobody else has changed it since. Nil is no
// file.
func entryBefore(e *cli.Environment, w written) ([]byte, error) {
	kept, err := openVersions(e)
	if err != nil {
		return nil, err
	}
	earlier, err := kept.Earlier(w.path)
	if err != nil {
		return nil, err
	}
	for _, text := range earlier {
		if there, err := w.connected(text); err == nil && !there {
			return text, nil
		}
	}
	text := w.old
	for {
		at, own := w.client.OwnPlace(w.path, text)
		if !own {
			return text, nil
		}
		without, err := amend.Remove(text, at)
		if err == nil && bytes.Equal(without, text) {
			err = amend.ErrUnable
		}
		if err != nil {
			return nil, err
		}
		text = without
	}
}
