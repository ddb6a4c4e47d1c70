package transcript_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/transcript"
)

const session = `prose
-- client --
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
-- want --
{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"x"}}}
-- client --
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
-- want --
{"jsonrpc":"2.0","id":2,"result":{"tools":[ {"name":"é", "n":1.0} ]}}
-- client --
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","arguments":{"b":1,"c":[2]},"_meta":{"progressToken":"p"}}}
-- want --
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}
# sleep 3s
{"jsonrpc":"2.0","id":3,"result":{"content":[1]}}
-- client --
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"a","arguments":{"b":1,"c":[2]}}}
-- want --
{"jsonrpc":"2.0","id":4,"result":{"content":[2]}}
{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}
-- client --
{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask"}}
-- want --
{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}
-- client --
{"jsonrpc":"2.0","id":"q","result":{}}
-- want --
{"jsonrpc":"2.0","id":5,"result":{"content":[3]}}
-- client --
{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"exit"}}
-- want --
# exit 7
`

// replies plays what a client sends, a line each, and returns what comes back.
func replies(t *testing.T, p *transcript.Player, lines ...string) []string {
	t.Helper()
	var mu sync.Mutex
	var got []string
	s := p.Connect(func(msg []byte) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, string(msg))
	})
	for _, line := range lines {
		s.Receive([]byte(line))
		synctest.Wait()
	}
	if p.Times {
		time.Sleep(time.Minute)
	}
	_ = s.Close(context.Background())
	return got
}

func TestReplay(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"arguments":{"c":[2],"b":1},"name":"a"}}`
	for name, test := range map[string]struct {
		sent []string
		want []string
	}{
		"a handshake of another client": {[]string{`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2024-11-05"}}`},
			[]string{`{"jsonrpc":"2.0","id":"a","result":{"serverInfo":{"name":"x"}}}`}},
		"a list, byte for byte": {[]string{`{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"_meta":{}}}`, `{"jsonrpc":"2.0","id":10,"method":"tools/list"}`},
			[]string{`{"jsonrpc":"2.0","id":9,"result":{"tools":[ {"name":"é", "n":1.0} ]}}`, `{"jsonrpc":"2.0","id":10,"result":{"tools":[ {"name":"é", "n":1.0} ]}}`}},
		"a call, in its order, and then the last": {[]string{call, call, call}, []string{
			`{"jsonrpc":"2.0","id":"x","result":{"content":[1]}}`,
			`{"jsonrpc":"2.0","id":"x","result":{"content":[2]}}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}`,
			`{"jsonrpc":"2.0","id":"x","result":{"content":[2]}}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}`}},
		"progress": {[]string{strings.Replace(call, `"name"`, `"_meta":{"progressToken":7},"name"`, 1)}, []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`, `{"jsonrpc":"2.0","id":"x","result":{"content":[1]}}`}},
		"other arguments": {[]string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":2}}}`},
			[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the transcript has no tools/call with these params; it has 4 with others"}}`}},
		"what was not asked": {[]string{`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`},
			[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the transcript has no prompts/list"}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`}},
		"a question": {[]string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{}}}`, `{"jsonrpc":"2.0","id":"replay-1","result":{"a":1}}`},
			[]string{`{"jsonrpc":"2.0","id":"replay-1","method":"elicitation/create","params":{}}`, `{"jsonrpc":"2.0","id":1,"result":{"content":[3]}}`}},
		"a question that is not answered": {[]string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`},
			[]string{`{"jsonrpc":"2.0","id":"replay-1","method":"elicitation/create","params":{}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := transcript.NewPlayer([]byte(session))
				if err != nil {
					t.Fatal(err)
				}
				if got := replies(t, p, test.sent...); !slices.Equal(got, test.want) {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		})
	}
}

func TestReplayOfTimesAndOfTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := transcript.NewPlayer([]byte(session))
		if err != nil {
			t.Fatal(err)
		}
		exited := -1
		p.Exited = func(status int) { exited = status }
		if got := replies(t, p, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"exit"}}`); got != nil || exited != 7 {
			t.Errorf("got %q and exit status %d, want 7 and no reply", got, exited)
		}
		p.Times = true
		began := time.Now()
		var took time.Duration
		s := p.Connect(func([]byte) { took = time.Since(began) })
		s.Receive([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":1,"c":[2]}}}`))
		time.Sleep(time.Minute)
		if _ = s.Close(t.Context()); took != 3*time.Second {
			t.Errorf("the reply took %s, want 3s", took)
		}
	})
}

func TestNoTranscript(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":         "",
		"another file":    "{}",
		"no message":      "-- client --\nhello\n-- want --\n",
		"no request":      "-- want --\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
		"no duration":     "-- client --\n# sleep long\n",
		"no status":       "-- want --\n# exit x\n",
		"torn in between": "-- client --\n{\"jsonrpc\":\"2.0\",\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
	} {
		if _, err := transcript.NewPlayer([]byte(text)); err == nil {
			t.Errorf("%s: got a player", name)
		}
	}
	if _, err := transcript.NewPlayer([]byte(session + "-- client --\n" + `{"jsonrpc":"2.0","id"`)); err != nil {
		t.Errorf("torn at the end: %v", err)
	}
}

// What is recorded is what passed, but for secrets, and is played.
func TestRecord(t *testing.T) {
	var out bytes.Buffer
	r := transcript.NewRecorder(&out, "A session.", new(mask.Set), false)
	client, server := r.Client(), r.Server()
	io.WriteString(client, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"password":"hunter2"}}}`+"\n")
	for _, piece := range []string{`{"jsonrpc":"2.0",`, ` "id":1,"result":{"x":1.0}}`, "\r\nlistening on ghp_abcdefghijklmnopqrstuvwx\n"} {
		io.WriteString(server, piece)
	}
	r.Exited(3)
	if missing, err := r.Close(time.Minute); missing != 0 || err != nil {
		t.Errorf("got %d missing, %v", missing, err)
	}
	want := `A session.
-- client --
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"password":"[masked]"}}}
-- want --
{"jsonrpc":"2.0", "id":1,"result":{"x":1.0}}
# not a message: "listening on [masked]"
# exit 3
`
	if out.String() != want {
		t.Errorf("got %s, want %s", &out, want)
	}
	synctest.Test(t, func(t *testing.T) {
		p, err := transcript.NewPlayer([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		got := replies(t, p, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","arguments":{"password":"hunter2"}}}`)
		if !slices.Equal(got, []string{`{"jsonrpc":"2.0", "id":5,"result":{"x":1.0}}`}) {
			t.Errorf("got %q, though what is masked is asked as it was", got)
		}
	})
}

// hanging is a disk that takes nothing.
type hanging chan struct{}

func (h hanging) Write(b []byte) (int, error) {
	<-h
	return len(b), nil
}

// A disk that hangs holds up nobody, and what it does not take is bounded and counted.
func TestRecordOnADiskThatHangs(t *testing.T) {
	disk := make(hanging)
	defer close(disk)
	r := transcript.NewRecorder(disk, "A session.", nil, true)
	transcript.SetLimit(r, 8<<10)
	server := r.Server()
	line := []byte(`{"jsonrpc":"2.0","method":"` + strings.Repeat("x", 1<<10) + `"}` + "\n")
	for range 20 {
		if _, err := server.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if missing, err := r.Close(time.Millisecond); missing < 6 || missing > 13 || err == nil {
		t.Errorf("got %d missing, %v, want those for which there is no room", missing, err)
	}
}
