//go:build unix

package child

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"syscall"
)

// A frame is what Guard and RunGuard tell each other, over a stream socket because macOS has no other local one that
// keeps order and tells the end: a header of its length, with which the descriptors travel, then its content.
type frame struct {
	kind    frameKind
	id      uint64 // of the process, chosen by Guard
	numbers []int64
	texts   []string
}

type frameKind byte

const (
	frameStart   frameKind = iota + 1 // to the guard: mark, length of argv; path, dir, rules, argv…, env…; with three files
	frameStop                         // to the guard: grace.EOF, grace.Term
	frameHurry                        // to the guard
	frameHasten                       // to the guard, about all processes: grace.EOF, grace.Term
	frameStarted                      // from the guard: pid, start; control group
	frameRefused                      // from the guard, in place of frameStarted: errno
	frameNoted                        // from the guard, after frameStop: stdin may be closed
	frameExited                       // from the guard: Exit.Code, number of the signal
	frameGone                         // from the guard, its last of this process: survivors
)

const (
	frameMax   = 64 << 20 // far above what the system lets argv and environment have
	headerLen  = 4
	frameFiles = 3
)

var errFrame = errors.New("malformed message")

// sendFrame writes f. Calls must not overlap.
func sendFrame(conn *lifeline, f frame, files []*os.File) error {
	content := f.encode()
	header := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, file := range files {
			fds[i] = int(file.Fd())
		}
		rights = syscall.UnixRights(fds...)
	}
	if err := conn.send(header, rights); err != nil {
		return err
	}
	_, err := conn.Write(content)
	return err
}

// receiveFrame reads a frame with the files that came with it, which the caller closes.
func receiveFrame(conn *lifeline) (frame, []*os.File, error) {
	var header [headerLen]byte
	rights := make([]byte, syscall.CmsgSpace(4*frameFiles))
	var files []*os.File
	for n := 0; n < headerLen; {
		got, rightsLen, err := conn.receive(header[n:], rights)
		if err != nil {
			closeAll(files)
			return frame{}, nil, err
		}
		files = append(files, parseRights(rights[:rightsLen])...)
		n += got
	}
	length := binary.BigEndian.Uint32(header[:])
	if length > frameMax {
		closeAll(files)
		return frame{}, nil, errFrame
	}
	content := make([]byte, length)
	_, err := io.ReadFull(conn, content)
	if err != nil {
		closeAll(files)
		return frame{}, nil, err
	}
	f, err := decodeFrame(content)
	if err != nil {
		closeAll(files)
		return frame{}, nil, err
	}
	return f, files, nil
}

func parseRights(b []byte) []*os.File {
	var files []*os.File
	messages, err := syscall.ParseSocketControlMessage(b)
	if err != nil {
		return nil
	}
	for _, m := range messages {
		fds, err := syscall.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			syscall.CloseOnExec(fd) // as it is already on Linux
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files
}

func (f frame) encode() []byte {
	b := []byte{byte(f.kind)}
	b = binary.AppendUvarint(b, f.id)
	b = binary.AppendUvarint(b, uint64(len(f.numbers)))
	for _, n := range f.numbers {
		b = binary.AppendVarint(b, n)
	}
	b = binary.AppendUvarint(b, uint64(len(f.texts)))
	for _, s := range f.texts {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

func decodeFrame(b []byte) (frame, error) {
	r := frameReader{rest: b}
	f := frame{kind: frameKind(r.byte()), id: r.uvarint()}
	for range r.count() {
		f.numbers = append(f.numbers, r.varint())
	}
	for range r.count() {
		f.texts = append(f.texts, r.string())
	}
	if len(r.rest) > 0 {
		r.bad = true
	}
	if r.bad {
		return frame{}, errFrame
	}
	return f, nil
}

// number returns the i-th number, 0 if there is none.
func (f frame) number(i int) int64 {
	if i < len(f.numbers) {
		return f.numbers[i]
	}
	return 0
}

// frameReader reads from rest until it is bad, from when on all it reads is zero.
type frameReader struct {
	rest []byte
	bad  bool
}

func (r *frameReader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.rest) {
		r.bad, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *frameReader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *frameReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		n = -1
	}
	if r.take(n) == nil {
		return 0
	}
	return v
}

func (r *frameReader) varint() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		n = -1
	}
	if r.take(n) == nil {
		return 0
	}
	return v
}

// count reads how many items follow, each of a byte at least.
func (r *frameReader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *frameReader) string() string {
	return string(r.take(r.count()))
}
