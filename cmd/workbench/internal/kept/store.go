package kept

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/syserr"
)

// storePath is the file that conversations are kept in, unless they are in a database.
func storePath(e *cli.Environment, cfg *config.Config) (string, error) {
	if cfg.Store.Path != "" {
		return cfg.Store.Path, nil
	}
	dir, err := e.StateDir()
	if err != nil {
		return "", cli.Hint(fmt.Errorf("there is no place for conversations: %w", err), `name a file in the configuration: "store": {"path": "…"}`)
	}
	return filepath.Join(dir, "conversations.db"), nil
}

// OpenStore opens the store that the configuration names; warn is told what it goes on in spite of.
func OpenStore(ctx context.Context, e *cli.Environment, cfg *config.Config, warn func(error)) (*store.Store, error) {
	if cfg.Store.DSN != "" {
		dsn, err := e.Revealed(ctx, cfg, cfg.Store.DSN)
		if err != nil {
			return nil, fmt.Errorf("store.dsn: %w", err)
		}
		return store.OpenPostgres(ctx, dsn, warn, store.Options{KeepFor: cfg.Store.KeepFor})
	}
	path, err := storePath(e, cfg)
	if err != nil {
		return nil, err
	}
	return store.OpenSQLite(ctx, path, warn, store.Options{KeepFor: cfg.Store.KeepFor})
}

// ErrNone says that there is no store.
var ErrNone = errors.New("nothing has been kept")

// IsThere says where the store ought to be if it is not there.
func IsThere(e *cli.Environment, cfg *config.Config) error {
	if cfg.Store.DSN != "" {
		return nil
	}
	path, err := storePath(e, cfg)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return cli.Hint(fmt.Errorf("%w: %s is not there", ErrNone, path), `if it is elsewhere, name it in the configuration: "store": {"path": "…"}`)
	}
	return nil
}

// With runs do with the store that is there; fresh allows to make one.
func With(ctx context.Context, e *cli.Environment, fresh bool, do func(*store.Store) error) (err error) {
	cfg, _, err := e.Load()
	if err != nil {
		return err
	}
	if !fresh {
		if err := IsThere(e, cfg); err != nil {
			return err
		}
	}
	s, err := OpenStore(ctx, e, cfg, func(warning error) { e.Warn(warning.Error()) })
	ours := err != nil // what do writes beside the store, as an export, may be on another disk
	if err == nil {
		err = errors.Join(do(s), s.Close())
		ours = errors.As(err, new(*store.WriteError))
	}
	if ours && cfg.Store.DSN == "" && (syserr.IsFull(err) || strings.Contains(err.Error(), "disk is full")) { // as SQLite says it
		return cli.Hint(err, `make room on that disk, or name another place: "store": {"path": "…"} in the configuration`)
	}
	return err
}
