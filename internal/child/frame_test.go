//go:build unix

package child

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"testing"
)

func TestFrame(t *testing.T) {
	tests := []struct {
		name  string
		frame frame
	}{
		{"empty", frame{kind: frameHurry, id: 1}},
		{"numbers", frame{kind: frameExited, id: 1 << 63, numbers: []int64{-1, 9, -1 << 63, 1<<63 - 1}}},
		{"texts", frame{kind: frameStart, id: 2, numbers: []int64{1}, texts: []string{"", "/bin/x", "a=\xff\n"}}},
		{"large", frame{kind: frameStart, id: 3, texts: []string{string(make([]byte, 4<<20)), "end"}}},
	}
	ours, theirs := connected(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sent := make(chan error, 1)
			go func() { sent <- sendFrame(ours, test.frame, nil) }()
			got, files, err := receiveFrame(theirs)
			if err != nil || len(files) > 0 {
				t.Fatalf("got %d files, %v", len(files), err)
			}
			if !reflect.DeepEqual(got, test.frame) {
				t.Errorf("got %v %d numbers %d texts, want what was sent", got.kind, len(got.numbers), len(got.texts))
			}
			if err := <-sent; err != nil {
				t.Error(err)
			}
		})
	}
	ours.Close()
	if _, _, err := receiveFrame(theirs); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: got %v, want EOF", err)
	}
}

// Each file arrives with the frame that it was sent with, however the frames follow each other.
func TestFrameWithFiles(t *testing.T) {
	ours, theirs := connected(t)
	const frames = 20
	go func() {
		defer ours.Close()
		for id := range uint64(frames) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Error(err)
				return
			}
			w.Write([]byte{byte(id)})
			w.Close()
			if err := sendFrame(ours, frame{kind: frameStart, id: id, texts: []string{"x"}}, []*os.File{r, r, r}); err != nil {
				t.Error(err)
			}
			r.Close()
			if err := sendFrame(ours, frame{kind: frameHurry, id: id}, nil); err != nil {
				t.Error(err)
			}
		}
	}()
	for id := range uint64(frames) {
		f, files, err := receiveFrame(theirs)
		if err != nil || len(files) != frameFiles || f.id != id {
			t.Fatalf("got frame %d with %d files, %v; want %d with %d", f.id, len(files), err, id, frameFiles)
		}
		if b, err := io.ReadAll(files[1]); err != nil || !bytes.Equal(b, []byte{byte(id)}) {
			t.Errorf("frame %d: its file holds %v, %v", id, b, err)
		}
		closeAll(files)
		if _, files, err := receiveFrame(theirs); err != nil || len(files) != 0 {
			t.Fatalf("got %d files, %v; want none", len(files), err)
		}
	}
}

func connected(t *testing.T) (ours, theirs *lifeline) {
	t.Helper()
	fds, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	conns := make([]*lifeline, 2)
	for i, fd := range fds {
		if conns[i], err = newLifeline(fd); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conns[i].Close() })
	}
	return conns[0], conns[1]
}

func FuzzDecodeFrame(f *testing.F) {
	f.Add(frame{kind: frameStart, id: 300, numbers: []int64{-5, 1 << 40}, texts: []string{"", "abc"}}.encode())
	f.Add([]byte{})
	f.Add(frame{kind: frameGone, texts: []string{"no UTF-8: \xff\x00"}}.encode())
	f.Add([]byte(`{"Kind":256}`))
	f.Add([]byte(`{"Kind":1,"Numbers":[],"Texts":[null,"A"]} {}`))
	f.Add([]byte(`{"Kind":1,"ID":2,"Texts":["AA`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decodeFrame(b)
		if err != nil {
			if !errors.Is(err, errFrame) {
				t.Errorf("got %v, want errFrame", err)
			}
			return
		}
		again, err := decodeFrame(got.encode())
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("encoded and decoded again: got %v, %v, want %v", again, err, got)
		}
	})
}
