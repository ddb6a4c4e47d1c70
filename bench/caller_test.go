package main

import (
	"bufio"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// limit ends a wait that would otherwise never end because of the very fault a test is for.
const limit = 10 * time.Second

// peerFunc plays a server: it gets the number of each request, counted from 1, and its id, and returns what to write.
type peerFunc func(n int, id string) string

// good is the answer that tests expect.
func good(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"right"}]}}`+"\n", id)
}

// converse runs a server over pipes until the driver's end is closed, and returns that and the number of requests read.
func converse(t *testing.T, answer peerFunc) (*stdioClient, func() int) {
	t.Helper()
	ours, theirs, err := pipePairs()
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer theirs.close()
		in := bufio.NewReader(theirs.in)
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			start, end := findID(line)
			if _, err := theirs.out.WriteString(answer(int(requests.Add(1)), string(line[start:end]))); err != nil {
				return
			}
		}
	}()
	finish := sync.OnceValue(func() int {
		_ = ours.in.Close()
		<-done
		_ = ours.out.Close()
		return int(requests.Load())
	})
	t.Cleanup(func() { finish() })
	_ = ours.out.SetReadDeadline(time.Now().Add(limit))
	return newStdioClient(ours), finish
}

func TestSequenceAndCrowdCountCalls(t *testing.T) {
	c, requests := converse(t, func(_ int, id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/message","params":{}}` + "\n" + good(id)
	})
	q, err := callOf(c, useTool, "any", "{}", "right")
	if err != nil {
		t.Fatal(err)
	}
	took, err := c.Sequence(q, effort{calls: 7})
	if err != nil || len(took) != 7 {
		t.Fatalf("got %d calls and error %v, want 7", len(took), err)
	}
	for i, d := range took {
		if d <= 0 {
			t.Errorf("call %d took %v, want some time", i, d)
		}
	}
	calls, span, err := c.Crowd(q, 4, effort{calls: 9})
	if err != nil || calls < 9 || calls >= 9+4 || span <= 0 {
		t.Fatalf("got %d calls in %v and error %v, want 9, and those then under way", calls, span, err)
	}
	if got, want := requests(), 1+7+calls; got != want {
		t.Errorf("the server got %d requests, want %d", got, want)
	}
}

func TestSequenceGoesOnForItsTime(t *testing.T) {
	c, _ := converse(t, func(_ int, id string) string { return good(id) })
	q, err := callOf(c, useTool, "any", "{}", "right")
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	e := effort{calls: 1, time: 5 * time.Millisecond}
	if _, err := c.Sequence(q, e); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took < e.time {
		t.Errorf("got an end after %v, want %v or more", took, e.time)
	}
}

// TestCrowdIsAsLargeAsItSays has a server that answers only when a whole crowd waits, in the opposite order.
func TestCrowdIsAsLargeAsItSays(t *testing.T) {
	const width = 8
	var waiting []string
	whole := 0
	c, _ := converse(t, func(n int, id string) string {
		if n == 1 {
			return good(id) // callOf
		}
		waiting = append(waiting, id)
		if len(waiting) < width {
			return ""
		}
		whole++
		var out strings.Builder
		for i := range waiting {
			out.WriteString(good(waiting[len(waiting)-1-i]))
		}
		waiting = nil
		return out.String()
	})
	q, err := callOf(c, useTool, "any", "{}", "right")
	if err != nil {
		t.Fatal(err)
	}
	calls, _, err := c.Crowd(q, width, effort{calls: 2*width + 1})
	if err != nil || calls != 3*width || whole != 3 {
		t.Errorf("got %d calls in %d crowds and error %v, want %d in 3", calls, whole, err, 3*width)
	}
}

func TestFaultsOfAnswersAreSeen(t *testing.T) {
	after := func(n int, bad peerFunc) peerFunc {
		return func(at int, id string) string {
			if at <= n {
				return good(id)
			}
			return bad(at, id)
		}
	}
	for _, test := range []struct {
		name   string
		answer peerFunc
		want   string // in the error of the first part that fails: setting up, a sequence, a crowd
	}{
		{"another text", func(_ int, id string) string { return strings.Replace(good(id), "right", "wrong", 1) }, "call any: got another answer than the tool's"},
		{"an error", func(_ int, id string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such tool"}}`+"\n", id)
		}, "call any: no such tool"},
		{"a shorter answer in a sequence", after(2, func(_ int, id string) string { return strings.Replace(good(id), "right", "righ", 1) }), "sequence: an answer is other than the first one"},
		{"another id in a sequence", after(2, func(_ int, _ string) string { return good("7777") }), "sequence: the answer to request"},
		{"an answer twice in a crowd", after(4, func(_ int, id string) string { return good(id) + good(id) }), "answered twice"},
		{"an id never given in a crowd", after(4, func(_ int, _ string) string { return good("7777") }), "never made"},
		{"a longer answer in a crowd", after(4, func(_ int, id string) string { return strings.Replace(good(id), "right", "rightly", 1) }), "crowd: an answer is other than the first one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, _ := converse(t, test.answer)
			err := attempt(c)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q in it", err, test.want)
			}
		})
	}
}

// attempt does all that is done with a request.
func attempt(c caller) error {
	q, err := callOf(c, useTool, "any", "{}", "right")
	if err != nil {
		return err
	}
	if _, err := c.Sequence(q, effort{calls: 3}); err != nil {
		return fmt.Errorf("sequence: %w", err)
	}
	if _, _, err := c.Crowd(q, 3, effort{calls: 6}); err != nil {
		return fmt.Errorf("crowd: %w", err)
	}
	return nil
}

func TestReplyID(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, test := range []struct {
		name, line string
		id         uint64
		digits     int
		ok         bool
	}{
		{"first", `{"jsonrpc":"2.0","id":42,"result":{}}`, 42, 2, true},
		{"spaced", `{"jsonrpc": "2.0", "id": 42, "result": {}}`, 42, 2, true},
		{"last", `{"result":{"text":"` + long + `"},"jsonrpc":"2.0","id":123}`, 123, 3, true},
		{"only", `{"id":1}`, 1, 1, true},
		{"a string", `{"jsonrpc":"2.0","id":"wb-1","method":"ping"}`, 0, 0, false},
		{"none", `{"jsonrpc":"2.0","method":"notifications/message"}`, 0, 0, false},
		{"far inside", `{"a":"` + long + `","id":1,"b":"` + long + `"}`, 0, 0, false},
		{"nothing", ``, 0, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			id, digits, ok := replyID([]byte(test.line))
			if id != test.id || digits != test.digits || ok != test.ok {
				t.Errorf("got %d, %d, %v, want %d, %d, %v", id, digits, ok, test.id, test.digits, test.ok)
			}
		})
	}
}
