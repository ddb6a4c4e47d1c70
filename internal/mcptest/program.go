package mcptest

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Program is the main function of a server that is a process of its own. Its arguments and the words of the variable
// FAKESERVER, which may change without making it another server, are specs for [New]; what begins with two dashes
// changes nothing. Before the specs may stand:
//
//	unless=FILE   it cannot start while there is that file
//	needs=FILE    it cannot start without that file
//	exit=7        it cannot start, as the variable LAST_WORDS says on standard error, or in words of its own
//	mute          it says nothing
//	banner        it greets people before it speaks MCP
//	unprobed      it ends when it is asked by server/discover
//	unprobed=late the same, but as a slow one does, when it has been asked by initialize, too
func Program() {
	specs := append(os.Args[1:], strings.Fields(os.Getenv("FAKESERVER"))...)
	specs = slices.DeleteFunc(specs, func(s string) bool { return strings.HasPrefix(s, "--") })
	mode := ""
	if len(specs) > 0 {
		mode = specs[0]
	}
	kind, file, _ := strings.Cut(mode, "=")
	if kind == "unless" || kind == "needs" {
		specs, mode = specs[1:], ""
		if _, err := os.Stat(file); (err == nil) == (kind == "unless") {
			mode = "exit=7"
		}
	}
	var in io.Reader = os.Stdin
	switch mode {
	case "exit=7":
		fmt.Fprintln(os.Stderr, cmp.Or(os.Getenv("LAST_WORDS"), "cannot read the licence file"))
		os.Exit(7)
	case "mute":
		fmt.Fprintln(os.Stderr, "waiting for the licence server")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	case "banner":
		specs = specs[1:]
		fmt.Print("Welcome to the server!\n\n")
	case "unprobed", "unprobed=late":
		specs, in = specs[1:], untilDiscover(mode == "unprobed=late")
	}
	server, err := New(specs...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	serve(in, server)
}

// Main serves on standard input and output, as a child process does.
func Main(s *Server) { serve(os.Stdin, s) }

func serve(in io.Reader, s *Server) {
	if err := wire.Serve(context.Background(), in, os.Stdout, s, wire.ServeOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, "mcptest:", err)
		os.Exit(1)
	}
}

// untilDiscover gives the lines before the first that asks by server/discover. It ends with that line or, if late, with
// the one that then asks by initialize.
func untilDiscover(late bool) io.Reader {
	in, feed := io.Pipe()
	go func() {
		lines := bufio.NewReader(os.Stdin)
		for probed := false; ; {
			line, err := lines.ReadString('\n')
			probed = probed || strings.Contains(line, "server/discover")
			if err != nil || probed && (!late || strings.Contains(line, `"initialize"`)) {
				_ = feed.Close()
				return
			}
			if !probed {
				_, _ = io.WriteString(feed, line)
			}
		}
	}()
	return in
}
