package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Request is what a turn is to do.
type Request struct {
	Key     string // of the turn; the same key starts one turn at most
	Digest  string // tells the same request from another while the turn is under way
	Kind    string
	Message string
}

// Flight is a turn under way. It holds its conversation until Finish or Release has returned without an error, or until
// Lost is closed: a flight that was told so takes its conversation back in no case.
type Flight struct {
	s            *Store
	principal    string
	conversation string
	request      Request
	holder       string // of this flight alone
	started      time.Time
	lock         *heldLock
	lost         chan struct{} // closed by the keeper, in the step in which it gives the flight up
	expires      time.Time     // by the monotonic clock, guarded by the keeper's mutex
}

// lease is the note in the store that a turn is under way.
type lease struct {
	conversation, key, digest, kind, holder string
	message                                 []byte
	started, expires                        int64
}

func (l lease) turn() Turn {
	return Turn{Key: l.key, Kind: l.kind, Message: string(l.message), Started: fromMillis(l.started)}
}

// getLease finds a lease by its conversation or its turn_key.
func getLease(ctx context.Context, q querier, by, principal, value string) (lease, error) {
	var l lease
	err := q.QueryRowContext(ctx, `SELECT conversation, turn_key, digest, kind, message, holder, started, expires
		FROM leases WHERE principal = $1 AND `+by+` = $2`, principal, value).
		Scan(&l.conversation, &l.key, &l.digest, &l.kind, &l.message, &l.holder, &l.started, &l.expires)
	if errors.Is(err, sql.ErrNoRows) {
		return l, ErrNotFound
	}
	return l, err
}

// held reports whether a lease counts for one who has the lock of its conversation: where locks end with their process,
// its holder is gone. A lease that ends later than any can that was renewed by the clock there is now is one of before
// that was set back: its holder is gone if it does not renew it.
func (s *Store) held(l lease) bool {
	switch left := l.expires - s.now(); {
	case s.db.locks() || left <= 0:
		return false
	case left > s.opts.lease.Milliseconds():
		return s.quiet.lasts(l) <= s.opts.lease
	}
	return true
}

// evicted takes the lock of a conversation from a process that has it, and is there, but has not renewed its lease: it
// hangs. It reports whether that is so. The process, if it goes on, has lost the turn.
func (s *Store) evicted(ctx context.Context, principal, conversation string) (bool, error) {
	if !s.db.locks() {
		return false, nil
	}
	var l lease
	err := s.db.read(ctx, func(ctx context.Context, q querier) (err error) {
		l, err = getLease(ctx, q, `conversation`, principal, conversation)
		return err
	})
	if err != nil || s.quiet.lasts(l) <= s.opts.lease {
		return false, ignore(err, ErrNotFound)
	}
	return true, s.db.evict(ctx, lockNumber(principal, conversation))
}

// lockOf takes the lock of a conversation, nil if another turn has it.
func (s *Store) lockOf(ctx context.Context, principal, conversation string) (*heldLock, error) {
	lock, err := s.db.lock(ctx, lockNumber(principal, conversation))
	if err != nil || lock != nil {
		return lock, err
	}
	if gone, err := s.evicted(ctx, principal, conversation); err != nil || !gone {
		return nil, err
	}
	// The server ends the connection in its own time; who asks again finds it done.
	return s.db.lock(ctx, lockNumber(principal, conversation))
}

// dead reports whether the process behind a lease is gone.
func (s *Store) dead(ctx context.Context, principal string, l lease) (bool, error) {
	lock, err := s.db.lock(ctx, lockNumber(principal, l.conversation))
	if err != nil || lock == nil {
		return false, err
	}
	defer lock.unlock()
	return !s.held(l), nil
}

// Start begins a turn. It is a *BusyError while another turn of the conversation is under way in any process, and
// ErrDuplicate if a turn with this key has ended. A turn whose process is gone is first entered in the conversation as
// lost.
func (s *Store) Start(ctx context.Context, principal, conversation string, r Request) (*Flight, error) {
	if err := checkNames("turn key", r.Key); err != nil {
		return nil, err
	}
	now := s.now()
	f := &Flight{s: s, principal: principal, conversation: conversation, request: r, holder: NewID(), started: fromMillis(now),
		lost: make(chan struct{}), expires: time.Now().Add(s.opts.lease)}
	lock, err := s.idleLocked(ctx, principal, conversation, func(ctx context.Context, q querier) error {
		if _, err := turnByKey(ctx, q, principal, r.Key); err == nil {
			return ErrDuplicate
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
		if _, err := getConversation(ctx, q, principal, conversation); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, `INSERT INTO leases (principal, conversation, turn_key, digest, kind, message, holder, started, expires)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, principal, conversation, r.Key, r.Digest, r.Kind, []byte(r.Message), f.holder,
			now, now+s.opts.lease.Milliseconds())
		return err
	})
	if err != nil {
		return nil, err
	}
	f.lock = lock
	s.keeper.add(f)
	return f, nil
}

// idle runs do in a transaction in which no turn of the conversation is under way.
func (s *Store) idle(ctx context.Context, principal, conversation string, do func(context.Context, querier) error) error {
	lock, err := s.idleLocked(ctx, principal, conversation, do)
	if err == nil {
		lock.unlock()
	}
	return err
}

// idleLocked is idle that keeps the lock of the conversation.
func (s *Store) idleLocked(ctx context.Context, principal, conversation string, do func(context.Context, querier) error) (*heldLock, error) {
	lock, err := s.lockOf(ctx, principal, conversation)
	if err != nil {
		return nil, err
	}
	if lock == nil {
		return nil, s.busy(ctx, principal, conversation)
	}
	err = s.db.write(ctx, func(ctx context.Context, q querier) error {
		l, err := getLease(ctx, q, `conversation`, principal, conversation)
		switch {
		case errors.Is(err, ErrNotFound):
			return do(ctx, q)
		case err != nil:
			return err
		case s.held(l):
			return &BusyError{Key: l.key, Digest: l.digest}
		}
		if err := s.enterLost(ctx, q, principal, l); err != nil {
			return err
		}
		return do(ctx, q)
	})
	if err != nil {
		lock.unlock()
		return nil, err
	}
	return lock, nil
}

// enterLost ends the turn of a process that is gone.
func (s *Store) enterLost(ctx context.Context, q querier, principal string, l lease) error {
	if _, err := q.ExecContext(ctx, `DELETE FROM leases WHERE principal = $1 AND conversation = $2`, principal, l.conversation); err != nil {
		return err
	}
	c, err := getConversation(ctx, q, principal, l.conversation)
	if isPart(err) {
		return nil // Nothing can be entered there, and it is to be deleted or left.
	} else if err != nil {
		return err
	}
	turn := l.turn()
	turn.Status, turn.Ended = StatusLost, fromMillis(s.now())
	return appendTurn(ctx, q, principal, &c, turn)
}

// busy says which turn is under way.
func (s *Store) busy(ctx context.Context, principal, conversation string) error {
	busy := &BusyError{}
	err := s.db.read(ctx, func(ctx context.Context, q querier) error {
		l, err := getLease(ctx, q, `conversation`, principal, conversation)
		busy.Key, busy.Digest = l.key, l.digest
		return err
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return busy
}

// Lost is closed when the turn may have lost its conversation: the store could not be reached for too long, or another
// process has taken the conversation over. What the turn does from then on may be done twice; end it. Its lease is not
// renewed any more, so the next turn of the conversation enters this one as lost; as long as there is none, Finish
// keeps the turn all the same.
func (f *Flight) Lost() <-chan struct{} { return f.lost }

// Finish puts the turn at the end of its conversation; Key, Kind, Message and Started are those it was started with.
// The turn is on stable storage when Finish returns without an error. After an error other than ErrLost the turn still
// holds the conversation, and Finish may be called again.
func (f *Flight) Finish(ctx context.Context, t Turn) (Turn, error) {
	s, r := f.s, f.request
	t.Key, t.Kind, t.Message, t.Started = r.Key, r.Kind, r.Message, f.started
	t.Feedback = nil
	if t.Ended.IsZero() {
		t.Ended = fromMillis(s.now())
	}
	t.Ended = fromMillis(t.Ended.UnixMilli())
	if _, err := encode(t); err != nil {
		return Turn{}, err
	}
	err := s.db.write(ctx, func(ctx context.Context, q querier) error {
		l, err := getLease(ctx, q, `conversation`, f.principal, f.conversation)
		if err == nil && l.holder == f.holder {
			return f.keep(ctx, q, t)
		} else if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		// An earlier Finish, of whose outcome nobody heard, may have kept it.
		if kept, err := turnByKey(ctx, q, f.principal, r.Key); err != nil || kept.turn.Status == StatusLost {
			return errors.Join(ErrLost, ignore(err, ErrNotFound))
		}
		return nil
	})
	if err != nil && !errors.Is(err, ErrLost) {
		return Turn{}, err
	}
	s.keeper.remove(f)
	f.lock.unlock()
	return t, err
}

func (f *Flight) keep(ctx context.Context, q querier, t Turn) error {
	c, err := getConversation(ctx, q, f.principal, f.conversation)
	if err != nil {
		return err
	}
	if err := appendTurn(ctx, q, f.principal, &c, t); err != nil {
		return err
	}
	return f.drop(ctx, q)
}

func (f *Flight) drop(ctx context.Context, q querier) error {
	_, err := q.ExecContext(ctx, `DELETE FROM leases WHERE principal = $1 AND conversation = $2 AND holder = $3`,
		f.principal, f.conversation, f.holder)
	return err
}

// Release ends the turn without keeping anything of it. After Finish it does nothing. If it returns an error, or if the
// turn was lost, the conversation is free when the lease ends, and the turn is then entered as lost.
func (f *Flight) Release(ctx context.Context) error {
	defer f.lock.unlock()
	if !f.s.keeper.remove(f) {
		return nil
	}
	return f.s.db.write(ctx, f.drop)
}

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

// lockNumber is the lock of a conversation.
func lockNumber(principal, conversation string) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s:%s", len(principal), principal, conversation))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// keeper renews the leases of the flights of a store, on one goroutine, and tells those that it cannot renew.
type keeper struct {
	cancel context.CancelFunc
	ended  chan struct{}
	wake   chan struct{}

	mu      sync.Mutex
	flights map[*Flight]struct{} // guarded by mu, as is what follows
	stopped bool
}

func (k *keeper) start(s *Store) {
	ctx, cancel := context.WithCancel(context.Background()) // until Close
	k.cancel, k.ended, k.wake = cancel, make(chan struct{}), make(chan struct{}, 1)
	k.flights = make(map[*Flight]struct{})
	go func() {
		defer close(k.ended)
		k.run(ctx, s)
	}()
}

func (k *keeper) stop() {
	k.cancel()
	<-k.ended
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	for f := range k.flights {
		k.loseLocked(f)
	}
}

func (k *keeper) add(f *Flight) {
	k.mu.Lock()
	k.flights[f] = struct{}{}
	if k.stopped {
		k.loseLocked(f)
	}
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// remove gives up a flight that ends, and reports whether it was still kept.
func (k *keeper) remove(f *Flight) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.flights[f]
	delete(k.flights, f)
	return ok
}

// lose is loseLocked for who has not the lock.
func (k *keeper) lose(f *Flight) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.loseLocked(f)
}

// loseLocked gives up a flight and tells it, in one step: no later renewal takes its conversation back. k.mu must be
// held.
func (k *keeper) loseLocked(f *Flight) {
	if _, ok := k.flights[f]; ok {
		delete(k.flights, f)
		close(f.lost)
	}
}

func (k *keeper) list() []*Flight {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Keys(k.flights))
}

// run renews three times in the life of a lease, and rests while there is nothing to renew.
func (k *keeper) run(ctx context.Context, s *Store) {
	tick := time.NewTicker(s.opts.lease / 3)
	defer tick.Stop()
	for {
		if len(k.list()) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-k.wake:
				tick.Reset(s.opts.lease / 3)
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			k.renew(ctx, s)
		}
	}
}

func (k *keeper) renew(ctx context.Context, s *Store) {
	flights := k.list()
	s.db.alive()
	ctx, cancel := context.WithTimeout(ctx, s.opts.lease/3)
	defer cancel()
	flights = slices.DeleteFunc(flights, func(f *Flight) bool {
		if f.lock.still() {
			return false
		}
		k.lose(f)
		return true
	})
	if len(flights) == 0 {
		return
	}
	expires := time.Now().Add(s.opts.lease)
	var renewed map[string]bool // by holder
	err := s.db.write(ctx, func(ctx context.Context, q querier) (err error) {
		renewed, err = renewLeases(ctx, q, flights, s.now()+s.opts.lease.Milliseconds())
		return err
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range flights {
		switch {
		case err == nil && renewed[f.holder]:
			f.expires = expires
		case err == nil, time.Now().After(f.expires):
			k.loseLocked(f)
		}
	}
}

// renewLeases renews the leases of flights that are still there, and returns their holders. One statement is for many:
// however many turns are under way, they have a part of a lease's time together.
func renewLeases(ctx context.Context, q querier, flights []*Flight, expires int64) (map[string]bool, error) {
	const most = 1000 // of one statement
	renewed := make(map[string]bool)
	for some := range slices.Chunk(flights, most) {
		places, args := make([]string, len(some)), []any{expires}
		for i, f := range some {
			places[i] = fmt.Sprintf("$%d", i+2)
			args = append(args, f.holder)
		}
		err := each(ctx, q, func(row scanner) error {
			var holder string
			err := row.Scan(&holder)
			renewed[holder] = true
			return err
		}, `UPDATE leases SET expires = $1 WHERE holder IN (`+strings.Join(places, ", ")+`) RETURNING holder`, args...)
		if err != nil {
			return nil, err
		}
	}
	return renewed, nil
}
