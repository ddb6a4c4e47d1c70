package wiretest_test

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// peer joins a client to a function that is given each line the client sends, and writes what it returns.
func peer(tb testing.TB, opts wiretest.Options, answer func(line string) string) *wiretest.Client {
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	go func() {
		defer theirOut.Close()
		lines := bufio.NewScanner(theirIn)
		for lines.Scan() {
			if reply := answer(lines.Text()); reply != "" {
				_, _ = io.WriteString(theirOut, reply)
			}
		}
	}()
	return wiretest.New(tb, ourOut, ourIn, opts)
}

func TestCall(t *testing.T) {
	c := peer(t, wiretest.Options{}, func(line string) string {
		if strings.Contains(line, `"refuse"`) {
			return `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no such method","data":{"n":1.0}}}` + "\n"
		}
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"result":{"n":123456789012345678901234}}` + "\n"
	})
	result := c.Result("add", `{"a":1}`)
	if got, want := string(result), `{"n":123456789012345678901234}`; got != want {
		t.Errorf("got result %s want %s", got, want)
	}
	refused := c.Call("refuse", "")
	if refused.Error == nil || refused.Error.Code != -32601 || string(refused.Error.Data) != `{"n":1.0}` {
		t.Errorf("got %+v want error -32601 with its data as it came", refused)
	}
	var got []string
	for _, entry := range c.Transcript(0) {
		got = append(got, fmt.Sprint(entry.Sent, " ", string(entry.Message.Raw)))
	}
	want := []string{
		`true {"jsonrpc":"2.0","id":1,"method":"add","params":{"a":1}}`,
		`false {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`,
		`false {"jsonrpc":"2.0","id":1,"result":{"n":123456789012345678901234}}`,
		`true {"jsonrpc":"2.0","id":2,"method":"refuse"}`,
		`false {"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no such method","data":{"n":1.0}}}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got transcript\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestNextGoesOnFromAPosition(t *testing.T) {
	c := peer(t, wiretest.Options{}, func(string) string {
		return strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/x"}`+"\n", 2) +
			`{"jsonrpc":"2.0","id":"\u0031","result":{}}` + "\n"
	})
	c.Send(`{"jsonrpc":"2.0","id":"\u0031","method":"m"}`)
	c.Reply(`"\u0031"`) // byte for byte, not by value
	_, at := c.Notification(0, "notifications/x")
	_, at = c.Notification(at, "notifications/x")
	if reply, _ := c.Next(at, "anything", func(wiretest.Message) bool { return true }); reply.Method != "" {
		t.Errorf("got %s after the second notification, want the reply", reply.Raw)
	}
}

func TestAnswers(t *testing.T) {
	answers := make(chan string, 3)
	c := peer(t, wiretest.Options{Answer: func(request wiretest.Message) (string, *wiretest.Error) {
		if request.Method == "roots/list" {
			return `{"roots":` + string(request.Params) + `}`, nil
		}
		return "", &wiretest.Error{Code: -1, Message: "not me"}
	}}, func(line string) string {
		if strings.Contains(line, "begin") {
			return `{"jsonrpc":"2.0","id":"r","method":"roots/list","params":[7]}` + "\n" +
				`{"jsonrpc":"2.0","id":9,"method":"ping"}` + "\n" +
				`{"jsonrpc":"2.0","id":10,"method":"sampling/createMessage"}` + "\n"
		}
		answers <- line
		return ""
	})
	c.Notify("begin", "")
	got := []string{<-answers, <-answers, <-answers}
	slices.Sort(got)
	want := []string{
		`{"jsonrpc":"2.0","id":"r","result":{"roots":[7]}}`,
		`{"jsonrpc":"2.0","id":10,"error":{"code":-1,"message":"not me"}}`,
		`{"jsonrpc":"2.0","id":9,"result":{}}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got answers %q want %q", got, want)
	}
}

// recorder takes the place of a test that is meant to fail.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Cleanup(f func())    { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Failed() bool        { return len(r.failures) > 0 }
func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// failures runs f as a test of its own and returns what it failed with.
func failures(t *testing.T, f func(tb testing.TB)) string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, cleanup := range slices.Backward(r.cleanups) {
				cleanup()
			}
		}()
		f(r)
	}()
	<-done
	return strings.Join(r.failures, "\n")
}

func TestFailures(t *testing.T) {
	says := func(lines string) func(string) string { return func(string) string { return lines } }
	tests := []struct {
		name string
		says func(string) string
		do   func(c *wiretest.Client)
		want string
	}{
		{"no reply", says(""), func(c *wiretest.Client) { c.Call("m", "") }, "wait for a reply to 1: none within"},
		{"reply with another spelling of the id", says(`{"jsonrpc":"2.0","id":1.0,"result":{}}` + "\n"),
			func(c *wiretest.Client) { c.Call("m", "") }, "wait for a reply to 1: none within"},
		{"error where a result is due", says(`{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"x"}}` + "\n"),
			func(c *wiretest.Client) { c.Result("m", "") }, "m : got error -5: x, want a result"},
		{"the other side ends", nil, func(c *wiretest.Client) { c.CloseInput(); c.Notification(0, "x") },
			"wait for x: the other side ended without it"},
		{"noise is a failure even when nobody waits for it", says("hello\n" + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"),
			func(c *wiretest.Client) { c.Call("m", "") }, "received a line that is no JSON-RPC message"},
		{"line without an end", says(`{"jsonrpc":"2.0","id":1,"result":{}}`),
			func(c *wiretest.Client) { c.Notify("m", "") }, "ends without a newline"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := failures(t, func(tb testing.TB) {
				test.do(peer(tb, wiretest.Options{Limit: 50 * time.Millisecond}, test.says))
			})
			if !strings.Contains(got, test.want) {
				t.Errorf("got failures %q want %q", got, test.want)
			}
		})
	}
}
