package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/reload"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/recordhost"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

func uiCommand(env *opening.Environment) *cobra.Command {
	var port int
	var noOpen bool
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Show the running workbenches, and call tools, in a browser",
		Long: `Ui serves a page on this machine and opens it in the browser, until it is
interrupted. The page shows the running workbenches of this user, the state of their
servers and what to do about those with a problem, the cost of each toolbox, and the
configuration. There you can call tools through forms, and answer calls that wait for
a person.

The printed address works once, for the first browser that opens it. The page is in
English, needs no network, and can be used with the keyboard: ? shows the keys.

The HTTP gateway has the same page at /ui/, where a token is needed.`,
		Example: `  workbench ui
  workbench ui --no-open --port 8080`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 0 || port > 65535 {
				return cli.Usage(errors.New("--port must be from 0 to 65535"))
			}
			return serveUI(cmd.Context(), env, port, !noOpen)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "the `port` of http://127.0.0.1:PORT/ui/ (0: any free one)")
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "print the address and open no browser")
	return cmd
}

// serveUI serves the page until ctx ends.
func serveUI(ctx context.Context, env *opening.Environment, port int, open bool) error {
	log, err := env.Logger()
	if err != nil {
		return err
	}
	cfg, from, err := env.LoadBy((*config.Source).ParseUsable)
	if err != nil {
		return err
	}
	env.Use(cfg, "", log)
	opts := frontOptions(env, cfg, "", log)
	opts.Toolbox.IdleTimeout = idleTimeout
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return cli.Hint(fmt.Errorf("--port %d: %w", port, err), "leave out --port to use any free one")
	}
	view := newView(env, page.ByKey, false)
	url := "http://" + ln.Addr().String() + "/ui/"
	at := url + "#key=" + view.Key.String()
	fmt.Fprint(env.Err, "Open this address in a browser of this machine. It works once. Ctrl-C ends the page.\n\n")
	if _, err := fmt.Fprintln(env.Out, at); err != nil {
		return errors.Join(err, ln.Close())
	}
	// The token is told to nobody: of this front the page alone is for use.
	front, err := proxy.New(cfg, opts)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	web, err := httpfront.New(front, httpfront.Options{Version: opts.Version, Logger: log, Addr: ln.Addr(), Token: rand.Text(), Page: view.Page, Drain: drainTime})
	if err != nil {
		return errors.Join(err, ln.Close(), front.Close())
	}
	follow := reload.New(log, cfg, from, "")
	view.Begin(pageFront{web, front}, stateOf(url, front, follow))
	defer context.AfterFunc(ctx, view.Page.Close)()
	defer beTold(env, log, url, front, nil, follow)()
	record := recordhost.New(opts.Calls, cfg, log)
	defer record.Close()
	defer follow.Follow(record, env.Hosts, front)()
	var browser sync.WaitGroup
	defer browser.Wait()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	if open {
		browser.Go(func() {
			if err := cli.Browse(serving, env.Environment, at); err != nil {
				fmt.Fprintf(env.Err, "workbench: %s\n", strings.TrimSpace(err.Error())) // the address can still be opened by hand
			}
		})
	}
	return errors.Join(web.Serve(ctx, ln), front.Close())
}
