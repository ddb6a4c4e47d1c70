package faults

import (
	"os/exec"
	"testing"

	"github.com/mcp-workbench/workbench/internal/oauth/oauthtest"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// command is what a person is told to run.
const command = "`workbench login box/sick`"

// newLoginBed has a server that wants logins, and nobody logged in yet.
func newLoginBed(t *testing.T, r *badremote) *bed {
	t.Helper()
	r.logins = new(oauthtest.Server)
	b := newRemoteBed(t, r.serve(t), setup{unready: true})
	o := b.open()
	if got := o.state("sick"); got != "needs-login" {
		t.Errorf("got the state %s, want needs-login", got)
	}
	b.fails(outcome{o.about("sick"), true}, command)
	return b
}

// A token that is refused is renewed once, and the request sent again. One that cannot be renewed is a matter for a
// person, and nothing is asked again and again until they have logged in.
func TestFaultF2_Unauthorized(t *testing.T) {
	r := new(badremote)
	b := newLoginBed(t, r)
	b.login()
	b.open()
	b.works()

	r.logins.Expire()
	b.works()
	if got := r.logins.Count("refresh_token"); got != 1 {
		t.Errorf("the token was renewed %d times, want once", got)
	}

	r.logins.Forget()
	b.fails(b.fault(), `"sick"`, "HTTP 401", command)
	asked := r.count("initialize")
	for range 20 {
		b.fails(b.fault(), "needs-login", command)
	}
	if got := r.logins.Count("refresh_token"); got != 2 {
		t.Errorf("the token was renewed %d times in all, want twice", got)
	}
	if got := r.count("initialize"); got > asked+1 {
		t.Errorf("the server was started %d times more, want once at most", got-asked)
	}
	if got := r.count("tool fault"); got != 1 {
		t.Errorf("the call came %d times, want once", got)
	}
	b.shows("needs-login", "workbench login box/sick")

	b.login()
	b.works()
}

// A server of "headers" is told its own way.
func TestFaultF2_UnauthorizedHeaders(t *testing.T) {
	r := (&badremote{logins: new(oauthtest.Server)}).serve(t)
	b := newRemoteBed(t, r, setup{unready: true, sick: entry{"headers": entry{"Authorization": "Bearer old"}}})
	b.fails(outcome{b.open().about("sick"), true}, "HTTP 401", `"headers"`)
}

// What the login was not for is said with the scope; one more login is enough, and a call is made once.
func TestFaultF3_InsufficientScope(t *testing.T) {
	r := &badremote{scope: "files:write"}
	b := newLoginBed(t, r)
	b.login()
	b.open()
	b.works()
	b.fails(b.fault(), `"sick"`, "HTTP 403", `the scope "files:write"`, command)
	if got := r.count("tool fault"); got != 1 {
		t.Errorf("the call came %d times, want once", got)
	}
	b.works() // what the login was for goes on
	b.login()
	b.answers(b.fault(), "done")
	if got := r.logins.Count("authorization_code"); got != 2 {
		t.Errorf("somebody logged in %d times, want twice", got)
	}
}

func TestFaultF15_ManyCallersOneRefresh(t *testing.T) {
	r := new(badremote)
	b := newLoginBed(t, r)
	b.login()
	b.open()
	b.works()
	r.logins.Expire()
	var ids []string
	for range 1000 {
		ids = append(ids, b.begin("sick", "echo", `{"n":1}`))
	}
	for _, id := range ids {
		b.answers(b.outcome(id), `{"n":1}`)
	}
	if got := r.logins.Count("refresh_token"); got != 1 {
		t.Errorf("the token was renewed %d times, want once", got)
	}
}

func TestLogout(t *testing.T) {
	r := new(badremote)
	b := newLoginBed(t, r)
	b.login()
	b.open()
	b.works()
	cmd := exec.Command(wiretest.Program("workbench"), "logout", "box/sick", "--config", b.path("workbench-config.json"))
	cmd.Env = b.environ()
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "Logged out from box/sick.\n" {
		t.Errorf("got %v, %s", err, out)
	}
	if got := r.logins.Count("revoke"); got != 1 {
		t.Errorf("the authorization server was told %d times, want once", got)
	}
	b.fails(b.fault(), "HTTP 401", command)
}
