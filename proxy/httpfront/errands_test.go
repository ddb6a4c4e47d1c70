package httpfront_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// What is asked below /commands/ is answered at the end, too: in the drain time, and when that is over with the reason.
func TestHTTPShutdownAnswersCommands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		drain time.Duration
		after time.Duration // that the handler needs; 0 waits until it is told to end
		want  string
	}{
		"in time":  {0, 1500 * time.Millisecond, "done"}, // longer than connections linger
		"too late": {time.Millisecond, 0, "workbench is shutting down"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			came := make(chan struct{})
			w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Drain: tt.drain,
				CommandsProbe: func(http.ResponseWriter, *http.Request) bool { return false },
				Commands: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					close(came)
					answer := "done"
					if tt.after == 0 {
						<-r.Context().Done()
						answer = context.Cause(r.Context()).Error()
					} else {
						<-time.After(tt.after)
					}
					_, _ = io.WriteString(w, answer)
				})}})
			answered := make(chan string, 1)
			go func() {
				resp, err := http.Get("http://" + w.address + "/commands/box/x")
				if err != nil {
					answered <- err.Error()
					return
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					body = []byte(err.Error())
				}
				answered <- string(body)
			}()
			<-came
			if err := w.stop(); err != nil {
				t.Errorf("Serve: %v", err)
			}
			if got := <-answered; got != tt.want {
				t.Errorf("got the answer %q, want %q", got, tt.want)
			}
		})
	}
}
