package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	neturl "net/url"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/commands"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/logfile"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/reload"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/tokenfile"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/recordhost"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/footprint"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/metrics"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/syserr"
	"github.com/mcp-workbench/workbench/internal/tokens"
	"github.com/mcp-workbench/workbench/internal/trail"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// httpFlags are the flags of serve --http.
type httpFlags struct {
	address          string
	hosts, origins   []string
	tokenFile        string
	noToken          bool
	tlsCert, tlsKey  string
	insecure         bool
	maxBody, maxOpen int
	auditLog         string
	proxies          []string
}

// httpServing gives a command the flags.
func httpServing(f *pflag.FlagSet) commands.Serving {
	o := new(httpFlags)
	o.add(f)
	return o
}

func (o *httpFlags) add(f *pflag.FlagSet) {
	f.StringVar(&o.address, "http", "", "serve over HTTP on this `address`, as in 127.0.0.1:7777 (port 0: any free one)")
	f.StringSliceVar(&o.hosts, "allow-host", nil, "HTTP: also answer to this `name` in Host, besides localhost, 127.0.0.1, [::1] and the address")
	f.StringSliceVar(&o.origins, "allow-origin", nil, "HTTP: allow web pages of this `origin`, as in https://app.example")
	tokenfile.AddFlag(f, &o.tokenFile)
	f.BoolVar(&o.noToken, "no-token", false, "HTTP: allow everybody who can reach the address, which must be a loopback one")
	f.StringVar(&o.tlsCert, "tls-cert", "", "HTTP: use HTTPS with the certificate in this `file` (PEM)")
	f.StringVar(&o.tlsKey, "tls-key", "", "HTTP: `file` with the key of the certificate (PEM)")
	f.BoolVar(&o.insecure, "insecure", false, "HTTP: allow an address that others can reach without TLS; they can read the token and everything else")
	f.StringVar(&o.auditLog, "audit-log", "", "HTTP: append a line of JSON to this `file` for each call, each request that is refused, and each answer to an approval; SIGHUP opens it again")
	f.StringSliceVar(&o.proxies, "trusted-proxy", nil, "HTTP: believe this `address`, or network such as 10.0.0.0/8, when it says in X-Forwarded-For whom a request is from")
	f.IntVar(&o.maxBody, "max-body", 4<<20, "HTTP: longest message accepted, in `bytes`")
	f.IntVar(&o.maxOpen, "max-sessions", 1024, "HTTP: `number` of sessions at a time")
}

// OverHTTP reports whether clients are served over HTTP.
func (o *httpFlags) OverHTTP() bool { return o.address != "" }

// Check refuses flags that say nothing without --http.
func (o *httpFlags) Check(cmd *cobra.Command) error {
	if o.address != "" {
		return nil
	}
	only := &pflag.FlagSet{}
	new(httpFlags).add(only)
	var err error
	only.VisitAll(func(f *pflag.Flag) {
		if cmd.Flags().Changed(f.Name) && err == nil {
			err = cli.Hint(cli.Usage(fmt.Errorf("--%s is for serving over HTTP", f.Name)), "add --http ADDRESS, as in --http 127.0.0.1:7777")
		}
	})
	return err
}

// idleTimeout is after how long without use servers are stopped that clients of a gateway left running; on stdio they
// end with their one client.
const idleTimeout = 15 * time.Minute

// drainTime is how long what is under way over HTTP has to be answered at the end.
const drainTime = 10 * time.Second

// unhurried is the heap, in bytes, of a gateway under load. With the 4 MiB that the runtime would have instead, collecting
// takes a fifth of what a call costs.
const unhurried = 32 << 20

// serveHTTP serves until ctx ends.
func serveHTTP(ctx context.Context, env *opening.Environment, o *httpFlags, cfg *config.Config, opts proxy.Options, follow *reload.Reloader, record *recordhost.Recorder) error {
	over := httpfront.Options{Version: opts.Version, Logger: opts.Logger, Hosts: o.hosts, Origins: o.origins, MaxBody: o.maxBody, MaxSessions: o.maxOpen, CallsPerMinute: cfg.HTTP.CallsPerMinute, Drain: drainTime}
	env.Ending.Allow(drainTime)
	address, err := o.resolve()
	if err != nil {
		return err
	}
	if over.TLS, err = o.certificate(opts.Logger); err != nil {
		return err
	}
	if over.Proxies, err = o.trustedProxies(); err != nil {
		return err
	}
	tell, err := openTrail(env, o.auditLog, opts.Logger)
	if err != nil {
		return err
	}
	if tell != nil {
		opts.Trail, over.Trail = tell, tell
		opts.Calls.Tell(func(c *calls.Call) { tell(trail.OfCall(c)) })
	}
	tokenFile, err := o.letIn(env, cfg.HTTP.JWT, &over)
	if err != nil {
		return err
	}
	ln, err := net.ListenTCP("tcp", address)
	if err != nil {
		return listenError(o.address, err)
	}
	footprint.Unhurried(unhurried)
	over.Addr = ln.Addr()
	opts.Toolbox.IdleTimeout = idleTimeout
	front, err := proxy.New(cfg, opts)
	if err != nil {
		return cli.Usage(errors.Join(err, ln.Close()))
	}
	over.Metrics = metrics.Handler(opts.Version, front.Status, front.TimeCalls)
	over.Commands, over.CommandsProbe = env.Hosts.Commands, env.Hosts.Commands.Probe
	way := page.ByToken
	if o.noToken {
		way = page.Open
	}
	view := newView(env, way, over.TLS != nil)
	over.Page = view.Page
	env.Hosts.Workflows.Gateway = strings.TrimSuffix(o.url(ln.Addr()), "/mcp")
	env.Hosts.Workflows.Remote = !address.IP.IsLoopback() || len(o.hosts)+len(o.proxies) > 0
	over.Hooks = env.Hosts.Workflows.Hooks()
	web, err := httpfront.New(front, over)
	if err != nil {
		return cli.Usage(errors.Join(err, ln.Close(), front.Close()))
	}
	url := o.url(ln.Addr())
	view.Begin(pageFront{web, front}, stateOf(url, front, follow))
	defer context.AfterFunc(ctx, view.Page.Close)()
	o.announce(opts.Logger, url, tokenFile)
	opts.Logger.Info().Str(logkey.Detail, startedAs(cfg)).Msg("workbench has started")
	defer func() { opts.Logger.Info().Msg("workbench has ended") }()
	if tell != nil {
		tell(trail.Event{Event: trail.Start, Version: cli.Version(), Config: cfg.Path, URL: url})
		defer func() { tell(trail.Event{Event: trail.Stop, URL: url}) }()
	}
	for _, name := range env.Hosts.Commands.Served() {
		opts.Logger.Info().Str(logkey.Toolbox, name).Str(logkey.URL, strings.TrimSuffix(url, "mcp")+"commands/"+neturl.PathEscape(name)+"/").Msg("serving commands")
	}
	if terminal.Is(env.Err) {
		fmt.Fprint(env.Err, entries(url, tokenFile != "", o.tokenFile))
	}
	defer beTold(env, opts.Logger, url, front, nil, follow)()
	defer follow.Follow(record, env.Hosts, front, web)()
	return errors.Join(web.Serve(ctx, ln), front.Close())
}

// letIn says who is let in, and where the token is kept; "" is for everybody.
func (o *httpFlags) letIn(env *opening.Environment, jwt config.JWT, over *httpfront.Options) (tokenFile string, err error) {
	switch {
	case o.noToken && jwt.Issuer != "":
		return "", cli.Hint(cli.Usage(errors.New("--no-token allows everybody, and http.jwt in the configuration only those with tokens")), "leave out one of them")
	case o.noToken:
		return "", nil
	}
	if tokenFile, err = tokenfile.Path(env.Environment, o.tokenFile); err == nil {
		over.Token, err = tokenfile.Load(tokenFile)
		env.Masks.Add(over.Token, mask.Masked)
	}
	if err != nil {
		return "", err
	}
	known := &tokens.Set{}
	// Without a place for them none can have been made.
	if file, err := tokenfile.OfClients(env.Environment); err == nil {
		known.Kept = file
	}
	if jwt.Issuer != "" {
		over.Resource = &httpfront.Resource{Address: jwt.Audience, Issuer: jwt.Issuer}
		known.Issuer = tokens.NewIssuer(tokens.IssuerOptions{Name: jwt.Issuer, Audience: jwt.Audience, KeysURL: jwt.JWKSURL, KeysFile: jwt.KeyFile, Algorithms: jwt.Algorithms})
	}
	over.Tokens = known
	return tokenFile, nil
}

// startedAs says what has started.
func startedAs(cfg *config.Config) string {
	text := "version " + cli.Version()
	if cfg.Path != "" {
		text += ", configuration " + cfg.Path
	}
	return text
}

// trustedProxies reads whom X-Forwarded-For is believed of.
func (o *httpFlags) trustedProxies() (all []netip.Prefix, err error) {
	for _, text := range o.proxies {
		p, err := netip.ParsePrefix(text)
		if at, wrong := netip.ParseAddr(text); wrong == nil {
			p, err = netip.PrefixFrom(at.Unmap(), at.Unmap().BitLen()), nil
		}
		if err != nil {
			return nil, cli.Hint(cli.Usage(fmt.Errorf("--trusted-proxy: got %q", text)), "write an address such as 10.0.0.7, or a network such as 10.0.0.0/8")
		}
		all = append(all, p)
	}
	return all, nil
}

// openTrail opens the file that events are appended to; nil if there is none.
func openTrail(e *opening.Environment, path string, log zerolog.Logger) (func(trail.Event), error) {
	if path == "" {
		return nil, nil
	}
	file, err := logfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--audit-log: %w", err)
	}
	e.Logs.Follow(file, log)
	return trail.Writer(e.Logs.To(file)), nil
}

// resolve checks where is to be listened, and that it is safe to.
func (o *httpFlags) resolve() (*net.TCPAddr, error) {
	const form = "want HOST:PORT, as in 127.0.0.1:7777"
	switch {
	case o.maxBody <= 0 || o.maxOpen <= 0:
		return nil, cli.Usage(errors.New("--max-body and --max-sessions must be above 0"))
	case o.noToken && o.tokenFile != "":
		return nil, cli.Usage(errors.New("--no-token and --token-file exclude each other"))
	}
	address, err := net.ResolveTCPAddr("tcp", o.address)
	if err != nil {
		return nil, cli.Hint(cli.Usage(fmt.Errorf("--http %s: %w", o.address, err)), form)
	}
	if address.IP.IsLoopback() {
		return address, nil
	}
	others := fmt.Errorf("--http %s can be reached from other machines", o.address)
	switch {
	case o.noToken:
		return nil, cli.Hint(cli.Usage(others), "--no-token is for loopback addresses: leave it out, or serve on 127.0.0.1")
	case o.tlsCert == "" && !o.insecure:
		return nil, cli.Hint(cli.Usage(others), "serve on 127.0.0.1, or give --tls-cert and --tls-key, or accept with --insecure that the token and all else is sent unencrypted")
	}
	return address, nil
}

// listenError says what to do about an address that cannot be had.
func listenError(address string, err error) error {
	hint := "give another address with --http"
	switch {
	case syserr.IsInUse(err):
		hint = "another program uses the port, maybe another workbench: end it, or give another port (0 takes any free one)"
	case syserr.IsReserved(err):
		hint = "the system keeps that port, as it may those below 1024: give another one"
	case syserr.IsNotOurs(err):
		hint = "the address is not one of this machine"
	}
	return cli.Hint(fmt.Errorf("--http %s: %w", address, err), hint)
}

// url is where clients find it.
func (o *httpFlags) url(address net.Addr) string {
	if o.tlsCert != "" {
		return "https://" + address.String() + "/mcp"
	}
	return "http://" + address.String() + "/mcp"
}

// entries are what clients need to connect, ready to be pasted. named is the file of the token, if --token-file names it.
func entries(url string, withToken bool, named string) string {
	bearer, header, printed := "", "", "workbench token"
	if named != "" {
		printed += " --token-file " + shellword.Word(named)
	}
	if withToken {
		bearer = ` --header "Authorization: Bearer $(` + printed + `)"`
		header = `, "headers": {"Authorization": "Bearer ${WORKBENCH_TOKEN}"}`
	}
	text := fmt.Sprintf("\nClaude Code:\n  claude mcp add --transport http workbench %s%s\nOther clients:\n  {\"mcpServers\": {\"workbench\": {\"type\": \"http\", \"url\": %q%s}}}\n", url, bearer, url, header)
	if withToken {
		text += printed + " prints the token. Ctrl-C ends this.\n\n"
	}
	return text
}

func (o *httpFlags) announce(log zerolog.Logger, url, tokenFile string) {
	e := log.Info().Str(logkey.URL, url)
	if tokenFile != "" {
		e = e.Str(logkey.TokenFile, tokenFile)
	}
	e.Msg("serving over HTTP")
	if o.insecure && o.tlsCert == "" {
		log.Warn().Msg("nothing is encrypted (--insecure)")
	}
	if tokenFile == "" {
		log.Warn().Msg("everybody on this machine is allowed (--no-token)")
	}
}
