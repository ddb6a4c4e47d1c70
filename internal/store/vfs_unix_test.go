//go:build unix

package store_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// tracer stands between SQLite and the files of one store. It records what is written and synced, with what the test
// has had acknowledged in between, and lets single operations fail.
type tracer struct {
	name string // of the VFS

	mu     sync.Mutex
	events []event                        // guarded by mu
	fail   func(op op, file string) int32 // a result code other than 0 fails the operation; guarded by mu
}

type op int

const (
	opWrite op = iota
	opTruncate
	opSync
	opSyncFailed // what was written since the last sync will never reach the disk
	opDelete
	opAck
)

// event is one thing that happened.
type event struct {
	op     op
	file   string // its base name
	offset int64  // of a write; the length, of a truncation
	data   []byte
	ack    string
}

func (tr *tracer) ack(message string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.events = append(tr.events, event{op: opAck, ack: message})
}

// failing sets what fails from now on.
func (tr *tracer) failing(fail func(op op, file string) int32) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.fail = fail
}

func (tr *tracer) taken() []event {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return append([]event(nil), tr.events...)
}

// through does an operation and records it if it succeeded.
func (tr *tracer) through(e event, do func() int32) int32 {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.fail != nil {
		if code := tr.fail(e.op, e.file); code != 0 {
			if e.op == opSync {
				tr.events = append(tr.events, event{op: opSyncFailed, file: e.file})
			}
			return code
		}
	}
	code := do()
	if code == sqlite3.SQLITE_OK {
		tr.events = append(tr.events, e)
	}
	return code
}

// traced is what the functions below, which SQLite calls, find their way by.
var traced = struct {
	mu    sync.Mutex
	vfs   map[uintptr]tracedVFS
	files map[uintptr]tracedFile
}{vfs: make(map[uintptr]tracedVFS), files: make(map[uintptr]tracedFile)}

type tracedVFS struct {
	tracer *tracer
	base   uintptr // the system's VFS
}

type tracedFile struct {
	tracer  *tracer
	name    string
	methods *sqlite3.Tsqlite3_io_methods // the system's
}

// at is what lies at an address outside of Go's memory.
func at[T any](address uintptr) *T {
	return *(**T)(unsafe.Pointer(&address))
}

// function is what is behind an address that SQLite keeps of a function.
func function[F any](address uintptr) F {
	return *(*F)(unsafe.Pointer(&address))
}

// address is what SQLite keeps of a function, which must be one of a package.
func address(f any) uintptr { return (*(*[2]uintptr)(unsafe.Pointer(&f)))[1] }

// trace makes a VFS for a test.
func trace(t *testing.T) *tracer {
	tls := libc.NewTLS()
	t.Cleanup(tls.Close)
	tr := &tracer{name: "trace-" + filepath.Base(t.TempDir()) + fmt.Sprintf("%p", t)}
	name, err := libc.CString(tr.name)
	if err != nil {
		t.Fatal(err)
	}
	base := sqlite3.Xsqlite3_vfs_find(tls, 0)
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	vfs := at[sqlite3.Tsqlite3_vfs](own)
	*vfs = *at[sqlite3.Tsqlite3_vfs](base)
	vfs.FpNext, vfs.FzName, vfs.FxOpen, vfs.FxDelete = 0, name, address(vfsOpen), address(vfsDelete)
	traced.mu.Lock()
	traced.vfs[own] = tracedVFS{tr, base}
	traced.mu.Unlock()
	if code := sqlite3.Xsqlite3_vfs_register(tls, own, 0); code != sqlite3.SQLITE_OK {
		t.Fatalf("register: %d", code)
	}
	// It stays: SQLite may be handed the name again.
	return tr
}

func vfsOpen(tls *libc.TLS, vfs, path, file uintptr, flags int32, out uintptr) int32 {
	traced.mu.Lock()
	v := traced.vfs[vfs]
	traced.mu.Unlock()
	open := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](at[sqlite3.Tsqlite3_vfs](v.base).FxOpen)
	code := open(tls, v.base, path, file, flags, out)
	f := at[sqlite3.Tsqlite3_file](file)
	if code != sqlite3.SQLITE_OK || f.FpMethods == 0 || path == 0 {
		return code
	}
	system := at[sqlite3.Tsqlite3_io_methods](f.FpMethods)
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	methods := at[sqlite3.Tsqlite3_io_methods](own)
	*methods = *system
	methods.FxWrite, methods.FxTruncate, methods.FxSync, methods.FxClose = address(fileWrite), address(fileTruncate), address(fileSync), address(fileClose)
	f.FpMethods = own
	traced.mu.Lock()
	defer traced.mu.Unlock()
	traced.files[file] = tracedFile{v.tracer, filepath.Base(libc.GoString(path)), system}
	return code
}

func vfsDelete(tls *libc.TLS, vfs, path uintptr, sync int32) int32 {
	traced.mu.Lock()
	v := traced.vfs[vfs]
	traced.mu.Unlock()
	remove := function[func(*libc.TLS, uintptr, uintptr, int32) int32](at[sqlite3.Tsqlite3_vfs](v.base).FxDelete)
	return v.tracer.through(event{op: opDelete, file: filepath.Base(libc.GoString(path))}, func() int32 { return remove(tls, v.base, path, sync) })
}

func fileOf(file uintptr) tracedFile {
	traced.mu.Lock()
	defer traced.mu.Unlock()
	return traced.files[file]
}

func fileWrite(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	f := fileOf(file)
	write := function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.methods.FxWrite)
	written := append([]byte(nil), unsafe.Slice(at[byte](data), n)...)
	return f.tracer.through(event{op: opWrite, file: f.name, offset: offset, data: written}, func() int32 { return write(tls, file, data, n, offset) })
}

func fileTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	f := fileOf(file)
	truncate := function[func(*libc.TLS, uintptr, int64) int32](f.methods.FxTruncate)
	return f.tracer.through(event{op: opTruncate, file: f.name, offset: size}, func() int32 { return truncate(tls, file, size) })
}

func fileSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	f := fileOf(file)
	sync := function[func(*libc.TLS, uintptr, int32) int32](f.methods.FxSync)
	return f.tracer.through(event{op: opSync, file: f.name}, func() int32 { return sync(tls, file, flags) })
}

func fileClose(tls *libc.TLS, file uintptr) int32 {
	f := fileOf(file)
	traced.mu.Lock()
	delete(traced.files, file)
	traced.mu.Unlock()
	return function[func(*libc.TLS, uintptr) int32](f.methods.FxClose)(tls, file)
}
