//go:build linux

package page

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mcp-workbench/workbench/internal/atonce"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// What the tests of the package share; TestMain sets it.
var (
	program string          // workbench
	browser context.Context // of chromedp
)

func TestMain(m *testing.M) {
	if findChromium() == "" {
		os.Exit(m.Run()) // each test says so
	}
	atonce.Tests(4) // half of their time is that something is waited for
	os.Exit(wiretest.Main(inBrowser{m}, []string{"cmd/workbench", "test/fakeserver"}))
}

// inBrowser are the tests beside a browser.
type inBrowser struct{ *testing.M }

// Run implements wiretest.Tests.
func (m inBrowser) Run() int {
	program = wiretest.Program("workbench")
	temporary, err := os.MkdirTemp("", "page") // Chromium leaves folders there
	if err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		return 1
	}
	defer os.RemoveAll(temporary)
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(findChromium()), chromedp.Env("TMPDIR="+temporary),
		chromedp.Flag("renderer-process-limit", "2")) // a process for each tab is a sixth of all the work
	if os.Getuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium has none for root
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	defer stop()
	var quit context.CancelFunc
	browser, quit = chromedp.NewContext(allocator)
	defer quit()
	if err := chromedp.Do(browser); err != nil {
		fmt.Fprintln(os.Stderr, "page: Chromium does not start:", err)
		return 1
	}
	return m.M.Run()
}

func findChromium() string {
	if named := os.Getenv("WORKBENCH_CHROMIUM"); named != "" {
		return named
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
