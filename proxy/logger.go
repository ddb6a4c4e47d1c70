package proxy

import (
	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
)

// loggerOf is a logger whose lines say of which session they are, and of which client once that has said who it is.
func loggerOf(log zerolog.Logger, session string, client *profile) zerolog.Logger {
	return log.With().Str(logkey.Session, session).Logger().Hook(zerolog.HookFunc(func(e *zerolog.Event, _ zerolog.Level, _ string) {
		if name := client.known().name; name != "" {
			e.Stringer(logkey.Client, foreign.NewName(name))
		}
	}))
}

// Logger is one whose lines say of which session they are.
func (s *Session) Logger() zerolog.Logger { return s.log }
