package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// relay is the least that can stand between a client and a server and still call itself a proxy: it gives each request
// a number of its own and each reply the client's id back. It believes that every id is the first in its line, and
// checks nothing. What a front costs is told against it.
type relay struct {
	mu   sync.Mutex
	ids  [][]byte // the client's ids, by our numbers; the room is used again
	free []int    // numbers that are in no use
}

// longestLine is more than any message of a measurement.
const longestLine = 4 << 20

// run moves lines in both directions, a goroutine each, until the client's end.
func (r *relay) run(in io.Reader, out io.Writer, server pipes) error {
	replies := make(chan error, 1)
	go func() { replies <- r.move(server.out, out, r.back) }()
	err := r.move(in, server.in, r.forth)
	return errors.Join(err, server.in.Close(), <-replies)
}

// move copies lines, with the ids that swap gives them.
func (r *relay) move(from io.Reader, to io.Writer, swap func(id, buf []byte) ([]byte, error)) error {
	in, out := bufio.NewReaderSize(from, longestLine), bufio.NewWriterSize(to, 64<<10)
	var buf []byte
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return endOf(err)
		}
		if start, end := findID(line); end > 0 {
			if buf, err = swap(line[start:end], buf[:0]); err != nil {
				return err
			}
			out.Write(line[:start])
			out.Write(buf)
			line = line[end:]
		}
		out.Write(line) // bufio keeps the first error for Flush
		if in.Buffered() > 0 {
			continue
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// forth keeps the client's id and appends our number to buf.
func (r *relay) forth(id, buf []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.free) == 0 {
		r.free = append(r.free, len(r.ids))
		r.ids = append(r.ids, nil)
	}
	n := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	r.ids[n] = append(r.ids[n][:0], id...)
	return strconv.AppendInt(buf, int64(n), 10), nil
}

// back appends the client's id for our number to buf.
func (r *relay) back(id, buf []byte) ([]byte, error) {
	n, err := strconv.Atoi(string(id))
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || n < 0 || n >= len(r.ids) {
		return nil, fmt.Errorf("the server answered a request %s", id)
	}
	r.free = append(r.free, n)
	return append(buf, r.ids[n]...), nil
}

// runRelay relays between the streams and a server that it starts.
func runRelay(ctx context.Context, in io.Reader, out io.Writer, argv []string) error {
	p, err := start(ctx, argv, nil)
	if err != nil {
		return err
	}
	err = new(relay).run(in, out, p.pipes)
	return errors.Join(err, p.close())
}
