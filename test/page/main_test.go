//go:build linux

package page

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// serverArg, first on the command line, makes the test binary an MCP server as the other arguments say.
const serverArg = "__server"

// What the tests of the package share; TestMain sets it.
var (
	program string          // workbench
	browser context.Context // of chromedp
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serverArg {
		serveMCP(os.Args[2:])
		return
	}
	os.Exit(run(m))
}

// serveMCP serves by the specs of mcptest. What stands behind stderr= is first written to standard error.
func serveMCP(specs []string) {
	var rest []string
	for _, spec := range specs {
		if file, ok := cut(spec, "needs="); ok {
			if _, err := os.Stat(file); err != nil {
				fmt.Fprintln(os.Stderr, os.Getenv("LAST_WORDS"))
				os.Exit(7)
			}
			continue
		}
		rest = append(rest, spec)
	}
	server, err := mcptest.New(rest...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	mcptest.Main(server)
}

func cut(text, prefix string) (string, bool) {
	if len(text) < len(prefix) || text[:len(prefix)] != prefix {
		return "", false
	}
	return text[len(prefix):], true
}

func run(m *testing.M) int {
	chromium := findChromium()
	if chromium == "" {
		return m.Run() // each test says so
	}
	dir, err := os.MkdirTemp("", "workbench-page-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = wiretest.Build(dir, "cmd/workbench")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		return 1
	}
	program = filepath.Join(dir, "workbench")
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.UserDataDir(filepath.Join(dir, "profile")))
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
	code := m.Run()
	quit()
	stop()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "page:", err)
			code = 1
		}
	}
	return code
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
