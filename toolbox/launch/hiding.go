package launch

import (
	"strings"

	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Hiding takes the secrets of a server out of what it says.
type Hiding struct {
	replacer *strings.Replacer
	values   []string
	// sensitive are those that no file has either, as they stand in JSON: the rest are variables whose names say
	// nothing of secrets, such as localhost.
	sensitive *strings.Replacer
	masks     *mask.Set
}

// Masking hides what masks were told, and nothing besides.
func Masking(masks *mask.Set) *Hiding { return &Hiding{masks: masks} }

// newHiding makes what hides secrets and variables of files, by their names, and what masks were told.
func newHiding(secrets, variables map[string]string, masks *mask.Set) *Hiding {
	h := Hiding{masks: masks}
	var pairs, sensitive []string
	add := func(value, as string, secret bool) {
		// A key of several lines is written one line at a time. A short one occurs by chance in what others say.
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= mask.Least {
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

// JSON returns a valid JSON value without the secrets that no file is to have.
func (h *Hiding) JSON(raw []byte) []byte {
	if h == nil || h.sensitive == nil {
		return raw
	}
	return []byte(h.sensitive.Replace(string(raw)))
}

// Text returns a text without the secrets.
func (h *Hiding) Text(s string) string {
	if h == nil {
		return s
	}
	if h.values != nil {
		s = h.replacer.Replace(s)
	}
	return h.masks.Text(s)
}

// Error returns an error whose text has no secrets.
func (h *Hiding) Error(err error) error {
	if h == nil || err == nil {
		return err
	}
	if text := err.Error(); h.Text(text) != text {
		return hiddenError{err, h.Text(text)}
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
