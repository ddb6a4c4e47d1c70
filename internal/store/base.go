package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
	"unicode/utf8"
)

// Options say how a store behaves. The zero value is right for most.
type Options struct {
	SessionIdle time.Duration // how long a session may be idle before it is gone; 0: 30 minutes
	ResultTTL   time.Duration // how long Result has a turn after its end; 0: one hour
	KeepFor     time.Duration // how long a conversation is kept after its last turn, see Expire; 0: for good

	lease    time.Duration    // how long a turn holds its conversation without a renewal; 0: 10 seconds
	now      func() time.Time // nil: time.Now
	sqlite   sqliteOptions    // what tests turn
	pgConns  int              // how many connections to PostgreSQL there may be; 0: 16
	pgAnswer time.Duration    // how long PostgreSQL may take; 0: answerWithin
}

// answerWithin is how long PostgreSQL may take where the caller has set no earlier end.
const answerWithin = 30 * time.Second

func (o Options) withDefaults() Options {
	o.SessionIdle = cmp.Or(o.SessionIdle, 30*time.Minute)
	o.ResultTTL = cmp.Or(o.ResultTTL, time.Hour)
	o.lease = cmp.Or(o.lease, 10*time.Second)
	o.pgConns = cmp.Or(o.pgConns, 16)
	o.pgAnswer = cmp.Or(o.pgAnswer, answerWithin)
	if o.now == nil {
		o.now = time.Now
	}
	return o
}

// database is what SQLite and PostgreSQL do differently.
type database interface {
	// read runs do in a transaction that only reads, and sees the store as it is at one time. It may run do anew where the
	// connection was lost in the middle of it: what do has found by then does not count.
	read(ctx context.Context, do func(context.Context, querier) error) error
	// write runs do in a transaction and returns when that is on stable storage. The context of do is not ctx, which
	// only bounds the waiting.
	write(ctx context.Context, do func(context.Context, querier) error) error
	// lock takes the lock of that number, which ends with this process, in whatever way it ends; nil if it is taken. A
	// database without such locks always gives it, and leases then expire.
	lock(ctx context.Context, number int64) (*heldLock, error)
	// evict takes a lock from another process that has it and hangs.
	evict(ctx context.Context, number int64) error
	// locks reports whether it has such locks.
	locks() bool
	// alive looks whether the locks taken are held still: heldLock.still says that of each.
	alive()
	close() error
}

// heldLock is a lock that was taken.
type heldLock struct {
	unlock func()      // may be called more than once
	still  func() bool // reports whether it is held for certain, as far as alive has seen
}

// querier is a connection or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// snapshot runs do in a transaction that only reads.
func snapshot(ctx context.Context, db *sql.DB, level sql.IsolationLevel, do func(context.Context, querier) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: level, ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // There is nothing to keep.
	return do(ctx, tx)
}

// scanner is a row of an answer.
type scanner interface{ Scan(...any) error }

// each has take take the rows of the answer to a query, one after the other.
func each(ctx context.Context, q querier, take func(scanner) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// list returns what scan makes of the rows of the answer to a query, which it asks in a transaction of its own. Beside an
// error it returns what scan has made before that.
func list[T any](ctx context.Context, db database, scan func(scanner) (T, error), query string, args ...any) (all []T, err error) {
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		all = nil
		return each(ctx, q, func(row scanner) error {
			one, err := scan(row)
			if err == nil {
				all = append(all, one)
			}
			return err
		}, query, args...)
	})
	return all, err
}

// base is what the parts of a store work with.
type base struct {
	db   database
	opts Options
}

// now is the time in milliseconds, which is what is kept of it.
func (b *base) now() int64 { return b.opts.now().UnixMilli() }

// NewID returns 128 random bits as 32 hexadecimal digits.
func NewID() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails: it ends the program instead
	return hex.EncodeToString(bits[:])
}

// fromMillis is a time that was kept. What is damaged may say any number; times outside the years that RFC 3339 can write,
// and so JSON, become the nearest that is within them.
func fromMillis(ms int64) time.Time {
	first, last := time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC), time.Date(9998, time.December, 31, 0, 0, 0, 0, time.UTC)
	return time.UnixMilli(min(max(ms, first.UnixMilli()), last.UnixMilli())).UTC()
}

// maxName is the most bytes of a name: of a principal, a client, a workflow, an id or a key.
const maxName = 512

// checkNames refuses names that one of the databases could not keep as they are. They alternate with what they are.
func checkNames(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		what, name := pairs[i], pairs[i+1]
		switch {
		case name == "":
			return &InvalidError{fmt.Sprintf("want a %s, got none", what)}
		case len(name) > maxName:
			return &InvalidError{fmt.Sprintf("want a %s of at most %d bytes, got %d", what, maxName, len(name))}
		case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
			return &InvalidError{fmt.Sprintf("want a %s in UTF-8 without zero bytes, got another", what)}
		}
	}
	return nil
}

// checksum is the CRC-32C of the fields and their lengths. It finds damage, not forgery.
func checksum(fields ...any) int64 {
	table := crc32.MakeTable(crc32.Castagnoli)
	var sum uint32
	var number [8]byte
	add := func(data []byte) {
		binary.LittleEndian.PutUint64(number[:], uint64(len(data)))
		sum = crc32.Update(crc32.Update(sum, table, number[:]), table, data)
	}
	for _, field := range fields {
		switch f := field.(type) {
		case string:
			add([]byte(f))
		case []byte:
			add(f)
		case int64:
			add(binary.LittleEndian.AppendUint64(nil, uint64(f)))
		default:
			panic(fmt.Sprintf("store: a field of type %T has no checksum", field))
		}
	}
	return int64(sum)
}

// sqliteOptions are what tests turn.
type sqliteOptions struct {
	vfs         string // the name of a registered VFS; "": the system's
	synchronous string // "": FULL
	rollback    bool   // a rollback journal instead of a write-ahead log
	logLimit    int64  // 0: the constant
}
