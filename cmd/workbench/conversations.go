package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/store"
)

func conversationsCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "conversations",
		Short: "List, show, back up and delete kept conversations",
		Long: `Conversations with command workflows are kept in a file, conversations.db in
$XDG_STATE_HOME/workbench or ~/.local/state/workbench, or where "store" in the
configuration says. These commands see the conversations of all users.`,
		Example: `  workbench conversations list
  workbench conversations export --output backup.jsonl`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(conversationsListCommand(env), conversationsShowCommand(env), conversationsExportCommand(env),
		conversationsImportCommand(env), conversationsDeleteCommand(env))
	return cmd
}

// storePath is the file that conversations are kept in, unless they are in a
// database.
func (e *environment) storePath(cfg *config.Config) (string, error) {
	if cfg.Store.Path != "" {
		return cfg.Store.Path, nil
	}
	dir, err := e.stateDir()
	if err != nil {
		return "", hinted{fmt.Errorf("there is no place for conversations: %w", err), `name a file in the configuration: "store": {"path": "…"}`}
	}
	return filepath.Join(dir, "conversations.db"), nil
}

// openStore opens the store that the configuration names; warn is told what it
// goes on in spite of.
func (e *environment) openStore(ctx context.Context, cfg *config.Config, warn func(error)) (*store.Store, error) {
	if cfg.Store.DSN != "" {
		dsn, err := e.revealed(ctx, cfg, cfg.Store.DSN)
		if err != nil {
			return nil, fmt.Errorf("store.dsn: %w", err)
		}
		return store.OpenPostgres(ctx, dsn, warn, store.Options{KeepFor: cfg.Store.KeepFor})
	}
	path, err := e.storePath(cfg)
	if err != nil {
		return nil, err
	}
	return store.OpenSQLite(ctx, path, warn, store.Options{KeepFor: cfg.Store.KeepFor})
}

// errNoneKept says that there is no store.
var errNoneKept = errors.New("nothing has been kept")

// storeIsThere says where the store ought to be if it is not there.
func (e *environment) storeIsThere(cfg *config.Config) error {
	if cfg.Store.DSN != "" {
		return nil
	}
	path, err := e.storePath(cfg)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return hinted{fmt.Errorf("%w: %s is not there", errNoneKept, path), `if it is elsewhere, say so in the configuration: "store": {"path": "…"}`}
	}
	return nil
}

// withStore runs do with the store that is there; fresh allows to make one.
func (e *environment) withStore(ctx context.Context, fresh bool, do func(*store.Store) error) (err error) {
	cfg, _, err := e.load()
	if err != nil {
		return err
	}
	if !fresh {
		if err := e.storeIsThere(cfg); err != nil {
			return err
		}
	}
	s, err := e.openStore(ctx, cfg, func(warning error) { fmt.Fprintf(e.err, "workbench: warning: %v\n", warning) })
	if err == nil {
		err = do(s)
		err = errors.Join(err, s.Close())
	}
	if err != nil && cfg.Store.DSN == "" && (errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "disk is full")) { // as SQLite says it
		return hinted{err, `make room on that disk, or have what is kept elsewhere: "store": {"path": "…"} in the configuration`}
	}
	return err
}
