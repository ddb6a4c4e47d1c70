package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// CorrectionBook is where a store keeps what users have confirmed.
type CorrectionBook struct{ *base }

// Correction is what a user has confirmed about an utterance: that it means a command, or that it does not.
type Correction struct {
	Utterance string    `json:"utterance"`
	Command   string    `json:"command"`
	Veto      bool      `json:"veto,omitempty"` // it does not mean the command
	Made      time.Time `json:"made"`
}

// SaveCorrection keeps a correction for a version of a workflow, in place of an earlier one of the same utterance and
// command. A new meaning of an utterance takes the place of its old one; vetoes stay.
func (b *CorrectionBook) SaveCorrection(ctx context.Context, principal, workflow, version string, c Correction) error {
	if err := checkNames("principal", principal, "workflow", workflow, "workflow version", version, "utterance", c.Utterance, "command", c.Command); err != nil {
		return err
	}
	c.Made = fromMillis(b.now())
	return b.db.write(ctx, func(ctx context.Context, q querier) error {
		if !c.Veto {
			if _, err := q.ExecContext(ctx, `DELETE FROM corrections WHERE principal = $1 AND workflow = $2 AND version = $3 AND utterance = $4 AND veto = 0`,
				principal, workflow, version, c.Utterance); err != nil {
				return err
			}
		}
		return putCorrection(ctx, q, principal, workflow, version, c)
	})
}

func correctionSum(principal, workflow, version string, c Correction) int64 {
	return checksum(principal, workflow, version, c.Utterance, c.Command, bit(c.Veto), c.Made.UnixMilli())
}

func putCorrection(ctx context.Context, q querier, principal, workflow, version string, c Correction) error {
	_, err := q.ExecContext(ctx, `INSERT INTO corrections (`+correctionColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (principal, workflow, version, utterance, command) DO UPDATE SET veto = excluded.veto, made = excluded.made, sum = excluded.sum`,
		principal, workflow, version, c.Utterance, c.Command, bit(c.Veto), c.Made.UnixMilli(), correctionSum(principal, workflow, version, c))
	return err
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Corrections returns the principal's corrections for a version of a workflow, the latest last. The error may say that
// some are damaged; those that are not are returned beside it.
func (b *CorrectionBook) Corrections(ctx context.Context, principal, workflow, version string) ([]Correction, error) {
	rows, damaged, err := b.corrections(ctx, `principal = $1 AND workflow = $2 AND version = $3 ORDER BY made, utterance, command`,
		principal, workflow, version)
	if err != nil {
		return nil, err
	}
	var found []Correction
	for _, r := range rows {
		found = append(found, r.correction)
	}
	return found, damaged
}

// corrections returns those that are meant by a condition, in its order. damaged says which of them cannot be read.
func (b *base) corrections(ctx context.Context, which string, args ...any) (found []correctionRow, damaged, err error) {
	err = b.db.read(ctx, func(ctx context.Context, q querier) error {
		found, damaged = nil, nil
		return each(ctx, q, func(row scanner) error {
			r, err := scanCorrection(row)
			switch {
			case isPart(err):
				damaged = errors.Join(damaged, err)
				return nil
			case err != nil:
				return err
			}
			found = append(found, r)
			return nil
		}, `SELECT `+correctionColumns+` FROM corrections WHERE `+which, args...)
	})
	return found, damaged, err
}

const correctionColumns = `principal, workflow, version, utterance, command, veto, made, sum`

// correctionRow is a correction as it is kept.
type correctionRow struct {
	principal, workflow, version string
	correction                   Correction
}

// scanCorrection reads a row of correctionColumns and checks it.
func scanCorrection(row scanner) (correctionRow, error) {
	var r correctionRow
	var veto, made, sum int64
	c := &r.correction
	if err := row.Scan(&r.principal, &r.workflow, &r.version, &c.Utterance, &c.Command, &veto, &made, &sum); err != nil {
		return r, err
	}
	c.Veto, c.Made = veto != 0, fromMillis(made)
	if sum != correctionSum(r.principal, r.workflow, r.version, *c) {
		return r, &CorruptError{Part: true, Cause: fmt.Errorf("a correction of workflow %q does not match its checksum", r.workflow)}
	}
	return r, nil
}
