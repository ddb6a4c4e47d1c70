package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/syserr"
)

const (
	// busyTimeout is how long a connection waits for another process's transaction.
	busyTimeout = 10 * time.Second
	// readers is the number of connections that read.
	readers = 4
	// logLimit is how long the write-ahead log should be at most. A checkpoint cuts it to that; a reader that does not
	// end holds checkpoints up.
	logLimit = 64 << 20
	// leastSQLite is the first version without the fault that could damage a store when two connections wrote and
	// checkpointed at once (sqlite.org/wal.html, "The WAL-Reset Bug").
	leastSQLite = 3_051_003
)

// sqliteDB is a store in a file.
type sqliteDB struct {
	path     string
	linked   bool // links lead to path from where the store is said to be
	opts     sqliteOptions
	warn     func(error)
	wal      bool
	presence *presence
	file     os.FileInfo // that was opened for writing
	reads    *sql.DB
	writer   *writer
	readOnly error // why nothing is written; nil: it is
}

// OpenSQLite opens the store in the file at path, which is made with its folder, for this user alone, if it is not
// there.
//
// Warn is told, on any goroutine, what the store goes on in spite of: a damaged file that was set aside
// (*CorruptError), a file that can only be read (*ReadOnlyError) or that a newer program wrote (*SchemaError), a place
// that is not safe (*PlaceError), a log that grows (*WriteError). It must not be nil.
func OpenSQLite(ctx context.Context, path string, warn func(error), opts Options) (*Store, error) {
	opts = opts.withDefaults()
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	d := &sqliteDB{opts: opts.sqlite, warn: warn}
	if d.path, d.linked, err = follow(path); err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	if err := d.open(ctx); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return newStore(d, opts), nil
}

// follow returns the path where links lead from a path. Nothing needs to be there.
func follow(path string) (target string, linked bool, err error) {
	const most = 40
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			return path, linked, nil // no link, or nothing
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path, linked = to, true
	}
	return "", true, &os.PathError{Op: "open", Path: path, Err: fmt.Errorf("more than %d links", most)}
}

func (d *sqliteDB) open(ctx context.Context) error {
	d.opts.logLimit = cmp.Or(d.opts.logLimit, logLimit)
	why := unsafePlace(filepath.Dir(d.path))
	if why != "" {
		d.warn(&PlaceError{d.path, why})
	}
	d.wal = why == "" && !d.opts.rollback && runtime.GOOS != "windows" // modernc.org/sqlite maps the log's index in a way Windows may fail
	if err := d.prepare(); err != nil {
		return err
	}
	if d.readOnly != nil {
		d.warn(d.readOnly)
		return d.openReadOnly(ctx)
	}
	alone, err := d.presence.enter(ctx)
	if err != nil {
		return err
	}
	if err := d.openWriter(ctx, alone); err != nil {
		return d.unopened(err)
	}
	if err := d.presence.stay(); err != nil {
		return err
	}
	if d.readOnly != nil { // a newer schema
		d.warn(d.readOnly)
	} else {
		d.writer.start()
	}
	d.reads = d.pool("query_only(1)")
	d.reads.SetMaxOpenConns(readers)
	d.reads.SetMaxIdleConns(readers)
	return nil
}

// unopened says of an error of SQLite which store it is about, and what to do where the disk is full: then there is no
// room for what SQLite keeps beside the file either, without which nothing can be read.
func (d *sqliteDB) unopened(err error) error {
	var e *sqlite.Error
	switch {
	case isCorrupt(err) || !errors.As(err, &e):
		return err
	case e.Code() == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE:
		return &WriteError{d.path, "nothing was stored; free space on the disk and try again", err}
	}
	return fmt.Errorf("the store %s cannot be opened: %w", d.path, err)
}

// prepare makes the file and its folder, and finds out whether they can be written.
func (d *sqliteDB) prepare() error {
	if err := openfile.MakeFolder(filepath.Dir(d.path), 0o700); err != nil {
		return fmt.Errorf("the folder of the store: %w", err)
	}
	// SQLite opens what is beside the file by itself, and waits for ever at a pipe.
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if info, err := os.Lstat(d.path + suffix); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("the store: %s%s is %w", d.path, suffix, openfile.ErrNotRegular)
		}
	}
	f, _, err := openfile.Make(d.path)
	if err == nil {
		info, statErr := f.Stat()
		_ = f.Close()
		if statErr != nil {
			return statErr
		}
		if !openfile.Private(info) { // it was there before, and may be anything
			d.warn(&PlaceError{d.path, fmt.Sprintf("can be read by others (%04o): chmod 600 %s", info.Mode().Perm(), d.path)})
		}
		d.presence, err = openPresence(d.path + ".lock")
	}
	if err == nil {
		return nil
	}
	if _, statErr := os.Stat(d.path); statErr != nil || !errors.Is(err, os.ErrPermission) && !syserr.IsReadOnly(err) {
		return fmt.Errorf("the store: %w", err)
	}
	d.readOnly = &ReadOnlyError{d.path, err}
	return nil
}

// pool makes connections with the settings of the store and these ones.
func (d *sqliteDB) pool(pragmas ...string) *sql.DB {
	query := url.Values{"_defensive": {"1"}, "_dqs": {"0"}, "_error_rc": {"1"}}
	if d.opts.vfs != "" {
		query.Set("vfs", d.opts.vfs)
	}
	if d.readOnly != nil {
		query.Set("mode", "ro")
		if _, err := os.Stat(d.path + "-wal"); err != nil && errors.As(d.readOnly, new(*ReadOnlyError)) {
			query.Set("immutable", "1") // There is no log to read, and none can be made.
		}
	}
	query["_pragma"] = append([]string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"foreign_keys(1)", "trusted_schema(0)",
	}, pragmas...)
	path := filepath.ToSlash(d.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive of Windows
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String())
	if err != nil {
		panic("store: the driver of SQLite does not take its own settings: " + err.Error())
	}
	return db
}

// writing are the settings of the connection that writes.
func (d *sqliteDB) writing() []string {
	synchronous := cmp.Or(d.opts.synchronous, "FULL")
	journal := "WAL"
	if !d.wal {
		// Cutting the journal is synced; deleting it would depend on when its folder is.
		journal = "TRUNCATE"
	}
	pragmas := []string{
		"synchronous(" + synchronous + ")",
		"journal_mode(" + journal + ")",
		"wal_autocheckpoint(1000)",
		fmt.Sprintf("journal_size_limit(%d)", d.opts.logLimit),
	}
	if runtime.GOOS == "darwin" {
		// There, fsync leaves the data in the cache of the disk.
		pragmas = append(pragmas, "fullfsync(1)", "checkpoint_fullfsync(1)")
	}
	return pragmas
}

// openWriter opens the connection that writes, brings the schema up to date, and, if no other process has the file
// open, looks for damage and sets a damaged file aside.
func (d *sqliteDB) openWriter(ctx context.Context, alone bool) error {
	suspect := alone && (d.unclean() || d.presence.suspected())
	err := d.connectWriter(ctx, suspect)
	if !isCorrupt(err) {
		return err
	}
	if !alone {
		return &CorruptError{Path: d.path, Cause: err}
	}
	if d.linked { // to what may be anything, and anybody's
		return fmt.Errorf("the store %s is damaged, and is not set aside, because the store is a link to it: %w", d.path, err)
	}
	aside, moveErr := d.setAside()
	if moveErr != nil {
		return &CorruptError{Path: d.path, Cause: errors.Join(err, moveErr)}
	}
	d.warn(&CorruptError{Path: d.path, SetAside: aside, Cause: err})
	if err := d.prepareFile(); err != nil {
		return err
	}
	return d.connectWriter(ctx, false)
}

func (d *sqliteDB) prepareFile() error {
	f, err := openfile.MakeNew(d.path, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d *sqliteDB) connectWriter(ctx context.Context, suspect bool) error {
	if err := d.checkHeader(); err != nil {
		return err
	}
	w := newWriter(d)
	if err := w.connect(ctx); err != nil {
		return err
	}
	err := d.checkVersion(ctx, w.conn)
	if err == nil && suspect {
		err = checkIntegrity(ctx, w.conn)
	}
	if err == nil {
		err = d.migrate(ctx, w.conn)
	}
	if err == nil && suspect {
		d.presence.clear()
	}
	if err != nil {
		w.disconnect()
		var newer *SchemaError
		if !errors.As(err, &newer) {
			return err
		}
		d.readOnly = newer
	}
	if d.file, err = os.Stat(d.path); err != nil {
		w.disconnect()
		return err
	}
	d.writer = w
	return nil
}

// inPlace fails if the store is not where it was opened any more: SQLite would go on with a file that nobody finds.
func (d *sqliteDB) inPlace() error {
	info, err := os.Stat(d.path)
	if err == nil && !os.SameFile(info, d.file) {
		err = errors.New("another file has taken its place")
	}
	return err
}

// openReadOnly opens a store that cannot be written.
func (d *sqliteDB) openReadOnly(ctx context.Context) error {
	if err := d.checkHeader(); err != nil {
		return &CorruptError{Path: d.path, Cause: err}
	}
	d.reads = d.pool()
	d.reads.SetMaxOpenConns(readers)
	has, err := userVersion(ctx, d.reads)
	switch {
	case isCorrupt(err):
		return &CorruptError{Path: d.path, Cause: err}
	case err != nil:
		return fmt.Errorf("the store %s: %w", d.path, err)
	case has < len(migrations()):
		return fmt.Errorf("the store has schema %d, which has to be brought up to %d: %w", has, len(migrations()), d.readOnly)
	}
	return nil
}

// unclean reports whether the last process that had the file open did not close it: there is a log or a journal.
func (d *sqliteDB) unclean() bool {
	for _, suffix := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(d.path + suffix); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// errNotSQLite is for a file that is something else, which SQLite would not always notice.
var errNotSQLite = errors.New("the file is not a SQLite database")

// checkHeader looks at the first bytes of the file and at its length.
func (d *sqliteDB) checkHeader() error {
	f, info, err := openfile.Open(d.path)
	if err != nil {
		return err
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	n, _ := f.Read(head)
	if n == 0 && info.Size() == 0 {
		if d.unclean() {
			// SQLite takes a log for the remains of another database and throws it away.
			if log, err := os.Stat(d.path + "-wal"); err == nil && log.Size() > 0 {
				return d.emptyBesideLog()
			}
		}
		return nil
	}
	// While the first transaction is under way, or was cut off, any part of the file may be there; the journal takes it
	// back.
	if string(head[:n]) != magic && !d.hasJournal() {
		return errNotSQLite
	}
	return nil
}

// hasJournal reports whether there is a journal that SQLite rolls back (sqlite.org/fileformat2.html, "The Rollback
// Journal").
func (d *sqliteDB) hasJournal() bool {
	f, _, err := openfile.Open(d.path + "-journal")
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
}

// emptyBesideLog decides about an empty file with a log. A store whose first transactions were never checkpointed looks
// like that, and so does one that was cut to nothing: the log of the former has the file's first page in it.
func (d *sqliteDB) emptyBesideLog() error {
	const header, frame = 32, 24
	f, _, err := openfile.Open(d.path + "-wal")
	if err != nil {
		return err
	}
	defer f.Close()
	page := make([]byte, 16)
	if _, err := f.ReadAt(page, header+frame); err == nil && string(page) == "SQLite format 3\x00" {
		return nil
	}
	return errNotSQLite
}

// checkVersion refuses a library that could damage the store.
func (d *sqliteDB) checkVersion(ctx context.Context, q querier) error {
	var text string
	if err := q.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&text); err != nil {
		return err
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(text, "%d.%d.%d", &major, &minor, &patch); err != nil || major*1_000_000+minor*1_000+patch < leastSQLite {
		return fmt.Errorf("this workbench was built with SQLite %s, which can damage a store; want 3.51.3 or later", text)
	}
	return nil
}

// checkIntegrity has SQLite look at every page and index.
func checkIntegrity(ctx context.Context, q querier) error {
	var verdict string
	if err := q.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return &CorruptError{Cause: errors.New(verdict)}
	}
	// The text of the schema is not among what it looks at.
	if has, err := userVersion(ctx, q); err != nil || has != len(migrations()) {
		return err
	}
	for table, columns := range tables() {
		if _, err := q.ExecContext(ctx, `SELECT `+columns+` FROM `+table+` LIMIT 0`); code(err) == sqlite3.SQLITE_ERROR {
			return &CorruptError{Cause: err}
		} else if err != nil {
			return err
		}
	}
	return nil
}

func userVersion(ctx context.Context, q querier) (int, error) {
	var version int
	err := q.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version)
	return version, err
}

// migrate brings the schema up to date, in one transaction.
func (d *sqliteDB) migrate(ctx context.Context, q querier) (err error) {
	if has, err := userVersion(ctx, q); err != nil || has == len(migrations()) {
		return err
	}
	if err := beginWriting(ctx, q); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = q.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`) // The first error is the one to tell.
		}
	}()
	has, err := userVersion(ctx, q) // Another process may have been quicker.
	if err != nil {
		return err
	}
	if has > len(migrations()) {
		return &SchemaError{Path: d.path, Has: has, Know: len(migrations())}
	}
	if has < 0 {
		return fmt.Errorf("the store %s has schema %d, which no workbench writes; "+
			"put a copy of the file in its place, or move the file away", d.path, has)
	}
	words := strings.NewReplacer("BYTEA", "BLOB", ` COLLATE "C"`, "")
	for _, step := range migrations()[has:] {
		_, err := q.ExecContext(ctx, words.Replace(step))
		if code(err) == sqlite3.SQLITE_ERROR { // The file may be another program's, and is not set aside for that.
			return fmt.Errorf("it says that it has schema %d, and what is in it is different; "+
				"put a copy of the file in its place, or move the file away: %w", has, err)
		}
		if err != nil {
			return err
		}
	}
	if _, err := q.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, len(migrations()))); err != nil {
		return err
	}
	_, err = q.ExecContext(ctx, `COMMIT`)
	return err
}

// setAside moves the file and what belongs to it out of the way.
func (d *sqliteDB) setAside() (string, error) {
	stamp := time.Now().UTC().Format("20060102T150405Z")
	aside := fmt.Sprintf("%s.damaged-%s", d.path, stamp)
	for n := 2; ; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s.damaged-%s-%d", d.path, stamp, n)
	}
	// The log first: left behind, it would be taken for that of the new file.
	for _, suffix := range []string{"-wal", "-journal", "-shm", ""} {
		if err := openfile.Move(d.path+suffix, aside+suffix); err != nil && (suffix == "" || !errors.Is(err, os.ErrNotExist)) {
			return "", err
		}
	}
	return aside, nil
}

func (d *sqliteDB) read(ctx context.Context, do func(context.Context, querier) error) error {
	return d.explain(snapshot(ctx, d.reads, sql.LevelDefault, do))
}

func (d *sqliteDB) write(ctx context.Context, do func(context.Context, querier) error) error {
	if d.readOnly != nil {
		return d.readOnly
	}
	return d.explain(d.writer.do(ctx, do))
}

// explain says of damage where it is, and has the file checked when it is opened next.
func (d *sqliteDB) explain(err error) error {
	if !isCorrupt(err) && !d.nonsense(err) {
		return err
	}
	d.presence.suspect()
	if known, ok := errors.AsType[*CorruptError](err); ok {
		if known.Part {
			return err
		}
		err = known.Cause
	}
	return &CorruptError{Path: d.path, Cause: err}
}

// nonsense reports whether an error is one that our statements cannot cause while the schema and the types of values
// are what they are in a whole file.
func (d *sqliteDB) nonsense(err error) bool {
	if err == nil || errors.As(d.readOnly, new(*SchemaError)) {
		return false
	}
	// database/sql has no other name for a value that does not fit.
	return code(err) == sqlite3.SQLITE_ERROR || strings.Contains(err.Error(), "sql: Scan error on column")
}

func (d *sqliteDB) lock(context.Context, int64) (*heldLock, error) {
	return &heldLock{func() {}, func() bool { return true }}, nil
}

func (d *sqliteDB) locks() bool { return false }

func (d *sqliteDB) evict(context.Context, int64) error { return nil }

func (d *sqliteDB) alive() {}

func (d *sqliteDB) close() error {
	var err error
	if d.reads != nil {
		err = d.reads.Close()
	}
	if d.writer != nil {
		d.writer.close()
	}
	if d.presence != nil {
		err = errors.Join(err, d.presence.leave())
		d.presence = nil
	}
	return err
}

// code is the primary result code of SQLite in an error, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// ofStore reports whether an error is about the store as a whole and not about one change.
func ofStore(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERNAL:
		return true
	}
	return false
}

// isCorrupt reports whether an error says that a file is damaged.
func isCorrupt(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	return errors.Is(err, errNotSQLite) || errors.As(err, new(*CorruptError))
}
