//go:build linux

package page

import (
	"os"
	"strings"
	"testing"
)

// A server that fails is shown with its cause, and once that is mended a button has it tried again at once. A workbench
// that ends goes from the page, and one that comes is there, without a new look.
func TestAFailingServerIsMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	fails := server("needs="+w.path("database"), "tools=echo")
	fails["env"] = map[string]string{"LAST_WORDS": "cannot reach the database"}
	w.write(configOf(map[string]any{"good": server("tools=echo,pid"), "bad": fails}))
	client := w.client()
	tb := w.visit(w.ui())
	tb.sees(`.trouble[data-server="box/bad"] .cause`, "cannot reach the database")
	tb.sees(`.trouble[data-server="box/bad"]`, "circuit-open") // it is not tried again for a while
	tb.sees(`tr[data-server="box/good"]`, "ready")
	tb.sees(`nav a[data-path="servers"] .badge`, "1")
	for scheme, width := range map[string]int64{"light": 1280, "dark": 1280} {
		tb.look(scheme, width)
		tb.shot(scheme)
	}
	tb.look("light", 390)
	tb.shot("phone")
	if wide := eval[bool](tb, "document.documentElement.scrollWidth > innerWidth"); wide {
		t.Error("the page is wider than a phone")
	}
	tb.look("light", 1280)
	if err := os.WriteFile(w.path("database"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// It may be tried again by itself meanwhile.
	const retry = `document.querySelector('button[aria-label="Retry now: box/bad"]')`
	tb.wait("it can be tried again", retry+` || !document.querySelector('.trouble')`)
	eval[any](tb, `const b = `+retry+`; b && b.click()`)
	tb.wait("it is well", `!document.querySelector('.trouble')`)
	tb.sees(`tr[data-server="box/bad"]`, "ready")

	client.CloseInput()
	tb.wait("the workbench goes from the page", `!document.querySelector('tr[data-server="box/good"] [data-state="ready"]')`)
	w.client()
	tb.sees(`tr[data-server="box/good"]`, "ready")
}

// A server is disabled and enabled in the configuration, which the workbench that runs follows.
func TestAServerIsDisabledAndEnabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.write(configOf(map[string]any{"one": server("tools=echo"), "two": server("tools=pid")}))
	w.client()
	tb := w.visit(w.ui())
	tb.sees(`tr[data-server="box/one"]`, "ready")
	tb.press("Disable box/one")
	tb.sees(`tr[data-server="box/one"]`, "disabled")
	text, err := os.ReadFile(w.config)
	if err != nil || !strings.Contains(string(text), `"disabled"`) {
		t.Errorf("got %v and the configuration %s, want it to say that the server is disabled", err, text)
	}
	tb.press("Enable box/one")
	tb.sees(`tr[data-server="box/one"]`, "ready")

	// What the reload changed is there, and a fault of the file beside its line as soon as the workbench has read it.
	tb.show("config")
	tb.sees(`section[aria-label="What reloads changed"]`, "toolbox box")
	w.write("{\n  \"toolboxs\": {}\n}")
	tb.sees(".source tr.bad .why", "toolboxes")
	if line := eval[string](tb, `document.querySelector(".source tr.bad td").textContent`); line != "2" {
		t.Errorf("got the fault at line %s, want 2", line)
	}
	tb.shot("fault")
	tb.show("servers")
	tb.sees(".warnline", "toolboxs")
}

// A button beside a server is about the configuration of its workbench: a server of the same name in that of the page
// stays as it is.
func TestAServerOfAnotherConfigurationIsDisabledThere(t *testing.T) {
	t.Parallel()
	text := configOf(map[string]any{"one": server("tools=echo"), "two": server("tools=pid")})
	w := newWorld(t, text)
	page := w.config
	w.config = w.path("team.json")
	w.write(text)
	w.client()
	team := w.config
	w.config = page
	tb := w.visit(w.ui())
	tb.sees(`tr[data-server="box/one"]`, "ready")
	tb.press("Disable box/one")
	tb.sees(`tr[data-server="box/one"]`, "disabled")
	for path, want := range map[string]bool{team: true, page: false} {
		if got, err := os.ReadFile(path); err != nil || strings.Contains(string(got), `"disabled"`) != want {
			t.Errorf("%s, %v: disabled is in it: %v, want %v:\n%s", path, err, !want, want, got)
		}
	}
	tb.press("Enable box/one")
	tb.sees(`tr[data-server="box/one"]`, "ready")
}
