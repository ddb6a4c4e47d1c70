//go:build unix

package child

import (
	"encoding/binary"
	"encoding/json"
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

// frameContent is a frame as it travels, in JSON. Texts are bytes there, since they need not be UTF-8.
type frameContent struct {
	Kind    frameKind
	ID      uint64
	Numbers []int64
	Texts   [][]byte
}

func (f frame) encode() []byte {
	content := frameContent{Kind: f.kind, ID: f.id, Numbers: f.numbers}
	for _, text := range f.texts {
		content.Texts = append(content.Texts, []byte(text))
	}
	b, _ := json.Marshal(content) // numbers and bytes can always be encoded
	return b
}

func decodeFrame(b []byte) (frame, error) {
	var content frameContent
	if json.Unmarshal(b, &content) != nil {
		return frame{}, errFrame
	}
	f := frame{kind: content.Kind, id: content.ID, numbers: content.Numbers}
	for _, text := range content.Texts {
		f.texts = append(f.texts, string(text))
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
