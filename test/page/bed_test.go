//go:build linux

package page

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// bound is how long anything is waited for.
const bound = 2 * time.Minute

// world is a user's machine: a configuration, and folders for what workbench keeps.
type world struct {
	t      *testing.T
	mark   string
	dir    string
	config string // path

	tabs context.Context // the first of its tabs, which is of a browser context of its own as all others are; nil before
}

// newWorld skips the test, or fails it where Chromium is required, when there is none.
func newWorld(t *testing.T, config string) *world {
	t.Helper()
	if program == "" {
		if os.Getenv("WORKBENCH_REQUIRE_CHROMIUM") == "1" {
			t.Fatal("Chromium is required and not installed")
		}
		t.Skip("Chromium is not installed: the page is not tested (on Debian: apt-get install chromium)")
	}
	dir, err := os.MkdirTemp("", "wb") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w := &world{t: t, mark: wiretest.Mark(t), dir: dir, config: filepath.Join(dir, "workbench-config.json")}
	if err := os.Mkdir(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(config)
	return w
}

func (w *world) write(config string) {
	w.t.Helper()
	if err := os.WriteFile(w.config, []byte(config), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) environ() []string {
	return append(os.Environ(), w.mark, "HOME="+w.dir, "XDG_RUNTIME_DIR="+w.path("run"), "XDG_STATE_HOME="+w.path("state"),
		"XDG_CACHE_HOME="+w.path("cache"), "XDG_CONFIG_HOME="+w.path("config"), "WORKBENCH_CONFIG="+w.config)
}

// server is the entry of a server by the specs of mcptest.
func server(specs ...string) map[string]any {
	return map[string]any{"command": wiretest.Program("fakeserver"), "args": specs}
}

// configOf is a configuration with one toolbox, box.
func configOf(servers map[string]any) string {
	return wiretest.JSON(map[string]any{"record": "full", "openTimeout": "2m", "toolboxes": map[string]any{"box": map[string]any{"description": "Things to try", "mcpServers": servers}}})
}

// client starts a workbench as a client does, which has the toolbox open.
func (w *world) client() *wiretest.Process {
	w.t.Helper()
	cmd := exec.Command(program, "serve", "--log-level", "off")
	cmd.Env, cmd.Dir = w.environ(), w.dir
	p := wiretest.Start(w.t, cmd, wiretest.Options{Limit: bound})
	p.Initialize("2025-11-25", "{}")
	p.Notify("notifications/initialized", "{}")
	from := p.Mark()
	id := p.Request("tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}`)
	told, _ := p.Next(from, "list_changed or the reply", func(m wiretest.Message) bool {
		return m.IsNotification("notifications/tools/list_changed") || m.IsReply(id)
	})
	if !told.IsReply(id) { // the reply waits a second for a client that is told so and does not list them
		p.Result("tools/list", "{}")
	}
	p.Reply(id)
	return p
}

// serve starts a program that prints an address on a line, and returns that line.
func (w *world) serve(find func(line string) (string, bool), args ...string) string {
	w.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env, cmd.Dir, cmd.WaitDelay = w.environ(), w.dir, bound
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		stop()
		w.t.Fatal(err)
	}
	var said []string // its first lines, for a test that fails
	ended, found := make(chan struct{}), make(chan string, 1)
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(read); lines.Scan(); {
			if at, ok := find(lines.Text()); ok {
				select {
				case found <- at:
				default:
				}
			} else if len(said) < 200 {
				said = append(said, lines.Text())
			}
		}
	}()
	over := make(chan struct{})
	go func() { defer close(over); _ = cmd.Wait(); _ = write.Close() }()
	w.t.Cleanup(func() {
		stop()
		<-over
		<-ended
		if w.t.Failed() {
			w.t.Logf("workbench %q ended with %v; it wrote:\n%s", args, cmd.ProcessState, strings.Join(said, "\n"))
		}
	})
	select {
	case at := <-found:
		return at
	case <-over:
	case <-time.After(bound):
	}
	w.t.Fatalf("workbench %q printed no address", args)
	return ""
}

// ui starts workbench ui and returns the address that it prints.
func (w *world) ui() string {
	w.t.Helper()
	return w.serve(func(line string) (string, bool) { return line, strings.HasPrefix(line, "http://") }, "ui", "--no-open", "--log-level", "off")
}

// gateway starts workbench serve --http and returns the address of its page.
func (w *world) gateway(args ...string) string {
	w.t.Helper()
	return w.serve(func(line string) (string, bool) {
		var log struct{ URL string }
		if json.Unmarshal([]byte(line), &log) != nil || !strings.HasSuffix(log.URL, "/mcp") {
			return "", false
		}
		return strings.TrimSuffix(log.URL, "mcp") + "ui/", true
	}, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
}

// run runs a command to its end and returns what it prints.
func (w *world) run(args ...string) string {
	w.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = w.environ(), w.dir
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("workbench %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// tab is a tab of the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// visit opens an address in a tab of its own, which shares cookies with other tabs of the world and with no others:
// cookies are for all ports of an address.
func (w *world) visit(address string) *tab {
	w.t.Helper()
	with := chromedp.WithNewBrowserContext()
	if w.tabs != nil {
		with = chromedp.WithExistingBrowserContext(chromedp.FromContext(w.tabs).BrowserContextID)
	}
	ctx, cancel := chromedp.NewContext(browser, with)
	w.t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the tab ends with the context of this first step
		w.t.Fatal(err)
	}
	if w.tabs == nil {
		w.tabs = ctx
	}
	tb := &tab{w.t, ctx}
	// Of the windows of tests that run at the same time one has the focus; each page is to think that it is its own.
	tb.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	}), chromedp.EmulateViewport(1280, 860), chromedp.Navigate(address))
	return tb
}

// in is the tab for a subtest.
func (tb *tab) in(t *testing.T) *tab { return &tab{t, tb.ctx} }

func (tb *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, bound)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		tb.t.Fatal(err)
	}
}

// eval gives the value of an expression in the page, a promise's once it is there.
func eval[T any](tb *tab, expression string) T {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, bound)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		tb.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression is true in the page. It is looked at by the page, since each question from here is work
// for half of the browser's threads; a page that is left for another takes what it was asked with it.
func (tb *tab) wait(what, expression string) {
	tb.t.Helper()
	look := fmt.Sprintf(`new Promise((done) => {
		const end = performance.now() + 1000;
		const look = () => {
			let is = false;
			try { is = !!(%s); } catch { /* not yet */ }
			if (is || performance.now() > end) done(is); else setTimeout(look, 30);
		};
		look();
	})`, expression)
	for end := time.Now().Add(bound); ; time.Sleep(30 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(tb.ctx, bound)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](look, chromedp.EvalAwaitPromise))
		cancel()
		if err == nil && ok {
			return
		}
		if time.Now().After(end) {
			tb.shot("failed")
			text, _ := chromedp.Run(tb.ctx, chromedp.Evaluate[string]("document.body.innerText"))
			tb.t.Fatalf("%s: it did not come to this (%v); the page shows:\n%s", what, err, text)
		}
	}
}

// sees waits until an element of the page has a text.
func (tb *tab) sees(selector, text string) {
	tb.t.Helper()
	tb.wait(fmt.Sprintf("%s has %q", selector, text), fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => e.textContent.includes(%s))", selector, wiretest.JSON(text)))
}

// press presses a button, once it is there.
func (tb *tab) press(name string) {
	tb.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll('button, a, summary')].find((e) => (e.getAttribute('aria-label') || e.textContent).trim() === %s && !e.disabled && e.getAttribute('aria-busy') !== 'true')", wiretest.JSON(name))
	tb.wait("there is a button "+name, find)
	eval[any](tb, find+".click()")
}

// go shows a view.
func (tb *tab) show(path string) {
	tb.t.Helper()
	eval[any](tb, "location.hash = '#/"+path+"', 1")
	tb.wait("the view "+path, fmt.Sprintf("document.querySelector('main[data-view=%q] h1')", strings.Split(path, "/")[0]))
}

// shot leaves a picture, if that is wanted.
func (tb *tab) shot(name string) {
	tb.t.Helper()
	dir := os.Getenv("WORKBENCH_SCREENSHOTS")
	if dir == "" {
		return
	}
	data, err := chromedp.Run(tb.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(tb.t.Name()+"-"+name+".png", "/", "-")), data, 0o600)
	}
	if err != nil {
		tb.t.Log(err)
	}
}

// look makes the page dark or light, and as wide as a screen or a phone.
func (tb *tab) look(scheme string, width int64) {
	tb.t.Helper()
	tb.do(chromedp.EmulateViewport(width, 860), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	}))
}

// origin is scheme://host:port of an address.
func origin(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Scheme + "://" + u.Host
}
