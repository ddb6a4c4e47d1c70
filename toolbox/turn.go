package toolbox

import (
	"context"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/logkey"
)

const (
	// turnWait is how long a start waits for others of the same server; then it begins all the same. It is no part of
	// the server's own time to start.
	turnWait = 10 * time.Second
	// turnHold is how long a start keeps the others waiting at most: a server that hangs is in nobody's way for longer.
	turnHold = 5 * time.Second
)

// takeTurn waits until not too many workbenches start the same server at this moment. What the result does, which may
// be done at any time and more than once, makes room for the next.
//
// Turns are taken by server, not by all servers together: what starts at the same moment in many workbenches is the
// server they have in common, and one that hangs then holds up no other.
func takeTurn(ctx context.Context, turn func(context.Context, string) (func(), error), cfg *config.Server, log zerolog.Logger) (done func()) {
	if turn == nil || cfg.Transport != config.TransportStdio {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	release, err := turn(ctx, strings.Join(append([]string{cfg.Cwd, cfg.Command}, cfg.Args...), "\x00"))
	if err != nil {
		if ctx.Err() == nil {
			log.Debug().AnErr(logkey.Err, err).Msg("the start cannot wait for those of other workbenches")
		}
		return func() {}
	}
	hold := time.AfterFunc(turnHold, release)
	return func() {
		hold.Stop()
		release()
	}
}
