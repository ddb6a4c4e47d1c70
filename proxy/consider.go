package proxy

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// What is put to a person in a client, who cannot scroll everywhere, is bounded; longer files are for workbench trust.
const (
	maxConsidered      = 40      // lines
	maxConsideredBytes = 4 << 10 // of all lines
)

// considering asks the user of a client whether the configuration of a project is to be used: each content of it once
// in a session.
type considering struct {
	file    func() *config.Untrusted      // nil where there is none
	use     func(*config.Untrusted) error // nil where nobody may be asked
	log     zerolog.Logger
	profile *profile
	states  *states
	asks    *asks
	line    *line
	begin   func(func(context.Context))

	mu    sync.Mutex
	asked string // the digest of what the user was asked about last
}

// ask asks the user of a legacy client whether the configuration of the project is to be used, where the client shows
// forms. No answer, and any other than yes, leaves it as it is.
func (co *considering) ask(context.Context) {
	u := co.considerable()
	if u == nil || !co.profile.known().fillsForms() || !co.first(u) {
		return
	}
	k := &ask{answer: func(m *wire.Message) {
		if m.Kind == wire.Result && chosen(m.Raw, m.Result, "decision", "trust") {
			co.begin(func(context.Context) { _ = co.trust(u) }) // which is in the log
		}
	}}
	_ = co.asks.question(co.line, k, nil, "elicitation/create", considerParams(u))
}

// askIn asks the user of a modern client, in the answer to a call of workbench_status. It reports whether the call is
// answered; else said is what the answer is to begin with.
func (co *considering) askIn(f *flight, c *call) (said string, answered bool) {
	u := co.considerable()
	if u == nil || !c.terms.AsksInResults() || !canFill(c.terms.capabilities) {
		return "", false
	}
	digest, file := co.states.digest(c), fileNumber(u)
	if c.State.Present() {
		state, _ := wire.Unquote(c.Bytes(c.State))
		number, sealed, err := co.states.open(state)
		answer, found := wire.FindPath(c.Raw, c.Responses, "trust")
		switch {
		case err != nil || sealed != digest || found != nil || !answer.Present() || !chosen(c.Raw, answer, "decision", "trust"):
			return "", false
		case number != file:
			return "The project's configuration was changed while its user read it, so it was not trusted.\n", false
		}
		if err := co.trust(u); err != nil {
			return fmt.Sprintf("The project's configuration could not be trusted: %s\n", foreign.NewError(err)), false
		}
		return "The project's configuration is trusted; its toolboxes will be there in a moment.\n", false
	}
	if !co.first(u) {
		return "", false
	}
	f.reply(co.states.inputRequired("trust", considerParams(u), file, digest, time.Now().Add(approval.Patience)))
	return "", true
}

// considerable is the configuration of the project that the user of this client may be asked about; nil if there is
// none.
func (co *considering) considerable() *config.Untrusted {
	u := co.file()
	if u == nil || u.Digest == "" || co.use == nil {
		return nil
	}
	lines := considerLines(u)
	if len(lines) > maxConsidered || len(strings.Join(lines, "\n")) > maxConsideredBytes {
		return nil
	}
	return u
}

func considerLines(u *config.Untrusted) []string {
	if u.Changes != nil {
		return u.Changes
	}
	return u.Shown
}

func considerParams(u *config.Untrusted) []byte {
	what := "It would start, reach and read"
	if u.Changes != nil {
		what = "It was changed since you trusted it (- is gone, + is new)"
	}
	msg := fmt.Sprintf("Workbench asks: the project of this folder has a configuration of its own, %s. %s:\n\n%s\n\nShould it be used? Say yes only if you know who wrote it.",
		foreign.NewText(u.Path), what, strings.Join(considerLines(u), "\n"))
	return formParams(msg, "decision", [2]string{"trust", "refuse"}, [2]string{"Trust it as it is now", "Do not use it"})
}

// trust has what the user saw used.
func (co *considering) trust(u *config.Untrusted) error {
	err := co.use(u)
	if err != nil {
		co.log.Warn().AnErr(logkey.Err, err).Msg("the project's configuration could not be trusted")
		return err
	}
	co.log.Info().Str(logkey.Detail, u.Path).Msg("the user trusted the project's configuration in the client")
	return nil
}

// first reports whether the user has not been asked about this content, and notes that it happens.
func (co *considering) first(u *config.Untrusted) bool {
	co.mu.Lock()
	defer co.mu.Unlock()
	was := co.asked
	co.asked = u.Digest
	return was != u.Digest
}

// fileNumber stands for the content of a file in the state of a request.
func fileNumber(u *config.Untrusted) uint64 {
	sum, _ := hex.DecodeString(u.Digest) // ours
	return binary.BigEndian.Uint64(append(sum, make([]byte, 8)...))
}
