// Command wine runs tests of the project as programs of Windows, under Wine, which Debian has as the packages wine and
// wine64. It shows what differs there: names of variables, arguments of batch files, files that are open, watched
// folders, locks. What Wine lacks or does otherwise is left out: sockets with a path, links, and some wordings.
//
//	go run ./test/wine                 the packages that can be judged
//	go run ./test/wine ./internal/child -run TestArgumentsOfBatchFiles -v
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

// defaults are what go test is told if nothing else is wanted.
var defaults = []string{
	// Of alternatives the first that fits counts, so those with a slash are last.
	"-skip", strings.Join([]string{
		"^TestMistakes$|^TestReloadOfFaultyFile$|^TestReloadOnHangup$|^TestReloadFindsFile$|^TestTranscripts$|^TestLayers$|^TestFindUnreadable$|^TestAccepted$", // they hold paths of Unix
		"^TestCallsAreRecorded$|^TestALostCallIsRecorded$|^TestBudgets$|^TestProcessesAtOnce$",                                                                  // Wine's clock stands for milliseconds, and it is slow
		"^TestOutboxCloseWhileBlocked$",         // a pipe that is written to is closed when its reader has gone
		"Killed|^TestFaultE9_HolderDies$",       // nobody is told there that a process was killed
		"^TestReloadOfRestlessFile$",            // it replaces a file without waiting for who reads it
		"Damaged",                               // a second program writes to a store whose journal is open
		"^TestTokensOfOthers$/a_link_to_a_file", // links
	}, "|"),
	"./config", "./internal/account", "./internal/amend", "./internal/audit", "./internal/calls", "./internal/catalogue", "./internal/child",
	"./internal/clients", "./internal/diagnosis", "./internal/document", "./internal/envfile", "./internal/filewatch", "./internal/gitfiles",
	"./internal/habits", "./internal/logqueue", "./internal/mcpserve", "./internal/meaning", "./internal/openfile", "./internal/runner",
	"./internal/secrets", "./internal/slots", "./internal/store", "./internal/taskbook", "./internal/tokens", "./internal/trust", "./internal/wire",
	"./toolbox/...", "./proxy/...", "./workflowsrv/...", "./host/...", "./cmd/workbench/internal/...",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	args := os.Args[1:]
	if len(args) == 0 {
		args = defaults
	}
	if err := run(ctx, args); err != nil {
		fmt.Fprintln(os.Stderr, "wine:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	dir, err := os.MkdirTemp("", "workbench-wine")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	overlay, err := replaceParts(dir)
	if err != nil {
		return err
	}
	environ := append(os.Environ(), "GOOS=windows", "CGO_ENABLED=0", "WINEPREFIX="+filepath.Join(dir, "prefix"), "WINEDEBUG=-all")
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env = environ
		return cmd
	}
	if out, err := command("wine", "reg", "add", `HKCU\Software\Wine`, "/v", "Version", "/d", "win10", "/f").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s; install wine and wine64", err, out)
	}
	// One program stays for as long as the tests are run: the first one starts services of Wine, which keep its output open.
	stays := command("wine", "cmd")
	stdin, err := stays.StdinPipe()
	if err != nil {
		return err
	}
	if err := stays.Start(); err != nil {
		return err
	}
	defer func() {
		stdin.Close()
		_ = stays.Wait()
		_ = command("wineserver", "-k").Run() // it ends by itself, too
	}()
	if out, err := command("go", "build", "-overlay", overlay, "-o", dir+"/", "./test/fakeserver").CombinedOutput(); err != nil {
		return fmt.Errorf("build the server of the tests: %w: %s", err, out)
	}
	environ = append(environ, "WORKBENCH_TEST_PROGRAMS=Z:"+dir)
	tests := command("go", append([]string{"test", "-overlay", overlay, "-vet=off", "-count=1", "-timeout", "10m", "-exec", "wine"}, args...)...)
	tests.Stdout, tests.Stderr = os.Stdout, os.Stderr
	return tests.Run()
}

// replaceParts gives the file that has Go use what Wine 8 knows: it lacks the library that Go has random numbers from,
// and the newest way to remove a file.
func replaceParts(dir string) (overlay string, err error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	replaced := make(map[string]string)
	for file, parts := range map[string][]string{
		"runtime/os_windows.go": {
			`'b', 'c', 'r', 'y', 'p', 't', 'p', 'r', 'i', 'm', 'i', 't', 'i', 'v', 'e', 's', '.'`, `'a', 'd', 'v', 'a', 'p', 'i', '3', '2', '.'`,
			`"ProcessPrng\000"`, `"SystemFunction036\000"`,
		},
		"internal/syscall/windows/zsyscall_windows.go": {`"bcryptprimitives.dll"`, `"advapi32.dll"`, `"ProcessPrng"`, `"SystemFunction036"`},
		"internal/syscall/windows/at_windows.go":       {"var TestDeleteatFallback bool", "var TestDeleteatFallback = true"},
	} {
		source := filepath.Join(strings.TrimSpace(string(root)), "src", filepath.FromSlash(file))
		text, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		for i := 0; i < len(parts); i += 2 {
			if !bytes.Contains(text, []byte(parts[i])) {
				return "", fmt.Errorf("%s is not as it was: it has no %s", source, parts[i])
			}
			text = bytes.ReplaceAll(text, []byte(parts[i]), []byte(parts[i+1]))
		}
		replaced[source] = filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(replaced[source], text, 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}
