package httpfront

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/rate"
)

// pace bounds how many calls each user makes in a minute, in whichever of their sessions and with whichever of their
// tokens.
type pace struct {
	limit rate.Limit
	count func(user string) // of a call that is one too many
}

// take counts a call of a user, or refuses it.
func (p *pace) take(user string) *refusal {
	wait := p.limit.Take(user)
	if wait == 0 {
		return nil
	}
	p.count(user)
	seconds := strconv.Itoa(int((wait + time.Second - 1) / time.Second))
	return refuse(http.StatusTooManyRequests, fmt.Sprintf("this user has made as many calls as they may in a minute; try again in %s s "+
		"(http.callsPerMinute in the configuration of workbench allows more)", seconds)).later(seconds)
}

// of is the pace of one user, for a session of theirs.
func (p *pace) of(user string) func() error {
	return func() error {
		if no := p.take(user); no != nil {
			return &no.error
		}
		return nil
	}
}

// Reload has the front work by what the configuration says now of serving over HTTP, as far as that is not read at the
// start alone.
func (f *Front) Reload(cfg *config.Config) { f.pace.limit.Set(cfg.HTTP.CallsPerMinute) }
