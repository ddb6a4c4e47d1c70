package toolbox

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
	"github.com/mcp-workbench/workbench/internal/wire"
)

// reveal returns the configuration of the server with its secrets and files of
// variables put in. They are looked up for each start, and nobody but that start
// is given them.
func (s *Server) reveal(ctx context.Context) (config.Server, error) {
	cfg, env, err := s.cfg, map[string]string(nil), error(nil)
	if env, err = FileVariables(cfg.EnvFile, s.box.opts.Environ); err != nil {
		return cfg, err
	}
	values := make(map[string]string)
	for _, secret := range cfg.Secrets() {
		if s.box.opts.Secret == nil {
			return cfg, fmt.Errorf("secret %s: %w", secret.Name, errors.ErrUnsupported)
		}
		if values[secret.Name], err = s.box.opts.Secret(ctx, secret); err != nil {
			return cfg, err
		}
	}
	if cfg, err = cfg.Reveal(values); err != nil {
		return cfg, err
	}
	s.hidden.Store(newHiding(values, env))
	s.mask(&cfg, values, env)
	if env != nil {
		maps.Copy(env, cfg.Env)
		cfg.Env = env
	}
	return cfg, nil
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

// leastHidden is how long a secret is at least that is looked for in what others
// say: a short one occurs by chance.
const leastHidden = mask.Least

// hiding takes the secrets of a server out of what it says.
type hiding struct {
	replacer *strings.Replacer
	values   []string
	// sensitive are those that no file has either, as they stand in JSON: the rest are variables whose names say nothing of
	// secrets, such as localhost.
	sensitive *strings.Replacer
}

// newHiding makes what hides secrets and variables of files, by their names.
func newHiding(secrets, variables map[string]string) *hiding {
	var h hiding
	var pairs, sensitive []string
	add := func(value, as string, secret bool) {
		// A key of several lines is written one line at a time.
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= leastHidden {
				h.values = append(h.values, line)
				pairs = append(pairs, line, as)
				if quoted := string(wire.AppendQuote(nil, line)); secret {
					sensitive = append(sensitive, quoted[1:len(quoted)-1], as)
				}
			}
		}
	}
	for name, value := range secrets {
		add(value, "${secret:"+name+"}", true)
	}
	for name, value := range variables {
		add(value, "${"+name+"}", mask.IsSecretName(name))
	}
	h.replacer = strings.NewReplacer(pairs...)
	if sensitive != nil {
		h.sensitive = strings.NewReplacer(sensitive...)
	}
	return &h
}

// json returns a valid JSON value without the secrets that no file is to have.
func (h *hiding) json(raw []byte) []byte {
	if h == nil || h.sensitive == nil {
		return raw
	}
	return []byte(h.sensitive.Replace(string(raw)))
}

// text returns a text without the secrets.
func (h *hiding) text(s string) string {
	if h == nil || h.values == nil {
		return s
	}
	return h.replacer.Replace(s)
}

// error returns an error whose text has no secrets.
func (h *hiding) error(err error) error {
	if h == nil || h.values == nil || err == nil {
		return err
	}
	if text := err.Error(); h.text(text) != text {
		return hiddenError{err, h.text(text)}
	}
	return err
}

// hiddenError is an error that is told without the secrets in it.
type hiddenError struct {
	error
	text string
}

func (e hiddenError) Error() string { return e.text }

func (e hiddenError) Unwrap() error { return e.error }

// mask has the secrets of the server masked in what is kept of calls: those that the configuration names as such, what
// stands in its headers, and variables whose names say that they are some.
func (s *Server) mask(cfg *config.Server, secrets, variables map[string]string) {
	masks := s.box.opts.Masks
	for name, value := range secrets {
		masks.Add(value, "${secret:"+name+"}")
	}
	for name, value := range variables {
		masks.Add(value, "${"+name+"}")
	}
	for name, value := range cfg.Headers {
		switch strings.ToLower(name) {
		case "accept", "accept-language", "content-type", "user-agent":
			continue
		}
		masks.Add(value, mask.Masked)
		if _, credentials, ok := strings.Cut(value, " "); ok { // Bearer, Basic
			masks.Add(credentials, mask.Masked)
		}
	}
	for name, value := range cfg.Env {
		if mask.IsSecretName(name) {
			masks.Add(value, "${"+name+"}")
		}
	}
	masks.Add(cfg.OAuth.ClientSecret, mask.Masked)
	masks.Add(cfg.OAuth.PrivateKey, mask.Masked)
	masks.Add(cfg.OAuth.IdentityProvider.ClientSecret, mask.Masked)
}
