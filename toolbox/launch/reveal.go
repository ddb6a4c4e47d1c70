// Package launch makes what a server is started with: its configuration with secrets and files of variables put in, the
// environment of its process, its sandbox, and what takes those secrets out of what the server says.
package launch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/envfile"
	"github.com/mcp-workbench/workbench/internal/mask"
)

// Reveal returns a configuration with its secrets and files of variables put in, and what hides them. They are looked
// up for each start, and nobody but that start is given them; masks are told them. find looks secrets up, and may be
// nil.
func Reveal(ctx context.Context, cfg config.Server, environ []string, find func(context.Context, config.Secret) (string, error),
	masks *mask.Set) (config.Server, *Hiding, error) {
	env, err := FileVariables(cfg.EnvFile, environ)
	if err != nil {
		return cfg, nil, err
	}
	values := make(map[string]string)
	for _, secret := range cfg.Secrets() {
		if find == nil {
			return cfg, nil, fmt.Errorf("secret %s: %w", secret.Name, errors.ErrUnsupported)
		}
		if values[secret.Name], err = find(ctx, secret); err != nil {
			return cfg, nil, err
		}
	}
	if cfg, err = cfg.Reveal(values); err != nil {
		return cfg, nil, err
	}
	hiding := newHiding(values, env, masks)
	tell(masks, values, "${secret:%s}")
	tell(masks, env, "${%s}")
	Tell(masks, &cfg)
	if env != nil {
		maps.Copy(env, cfg.Env)
		cfg.Env = env
	}
	return cfg, hiding, nil
}

// FileVariables reads files of variables, some of which come from our environment; nil if there are none.
func FileVariables(files config.EnvFiles, environ []string) (map[string]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	values := make(map[string]string)
	for _, file := range files {
		vars, err := envfile.Read(file)
		if err != nil {
			return nil, fmt.Errorf("envFile: %w", err)
		}
		for _, v := range vars {
			if !v.Inherited {
				values[v.Name] = v.Value
			} else if own, ok := child.Getenv(environ, v.Name); ok {
				values[v.Name] = own
			}
		}
	}
	return values, nil
}

// tell has values masked in what is kept of calls, by their names.
func tell(masks *mask.Set, values map[string]string, as string) {
	for name, value := range values {
		masks.Add(value, fmt.Sprintf(as, name))
	}
}

// Tell has the secrets that stand in the configuration of a server masked in what is kept of calls: what its headers
// have, the variables and arguments whose names say that they are some, and what of its address and of other variables is
// secret.
func Tell(masks *mask.Set, cfg *config.Server) {
	secret := append(mask.InArguments(cfg.Args), mask.InAddress(cfg.URL)...)
	for name, value := range cfg.Headers {
		switch strings.ToLower(name) {
		case "accept", "accept-language", "content-type", "user-agent":
			continue
		}
		secret = append(secret, mask.Credentials(value)...)
	}
	for name, value := range cfg.Env {
		masks.AddVariable(name, value)
	}
	for _, value := range append(secret, cfg.OAuth.ClientSecret, cfg.OAuth.PrivateKey, cfg.OAuth.IdentityProvider.ClientSecret) {
		masks.Add(value, mask.Masked)
	}
}
