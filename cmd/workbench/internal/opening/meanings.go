package opening

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/meaning"
	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// Meanings are those of the model that a configuration names for embeddings; nil if it names none. They are to be
// closed.
func (e *Environment) Meanings(cfg *config.Config, log zerolog.Logger) *meaning.Meanings {
	m := &cfg.Models
	if m.Embeddings == "" || m.Problem != nil {
		return nil
	}
	file := ""
	if dir, err := e.CacheDir(); err == nil {
		file = filepath.Join(dir, "meanings", catalogue.Digest([]byte(m.BaseURL+"\x00"+m.Embeddings)))
	} else {
		log.Debug().AnErr(logkey.Err, err).Msg("there is no place for embeddings")
	}
	return meaning.New(&embedder{env: e, cfg: cfg, log: log}, file)
}

// embedder is the model of a configuration. Its key is looked for when it is asked first.
type embedder struct {
	env *Environment
	cfg *config.Config
	log zerolog.Logger

	mu     sync.Mutex
	client *model.Client
}

// Embed implements [meaning.Model].
func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	client, err := e.asked(ctx)
	if err != nil {
		return nil, err
	}
	return client.Embed(ctx, texts)
}

func (e *embedder) asked(ctx context.Context) (*model.Client, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client != nil {
		return e.client, nil
	}
	m := &e.cfg.Models
	key, err := e.env.Revealed(ctx, e.cfg, m.APIKey)
	if err != nil {
		return nil, fmt.Errorf("models.apiKey: %w", err)
	}
	e.client, err = model.New(m.BaseURL, model.Options{
		Models: model.Models{Embeddings: m.Embeddings}, Key: key, ReplyTimeout: m.ReplyTimeout, HTTP: remote.Client(e.env.Environ), Logger: e.log,
	})
	return e.client, err
}
