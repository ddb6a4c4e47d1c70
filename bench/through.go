package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

const (
	throughWhat = "200 B from a server over HTTP"
	nginxFront  = "nginx"
	goFront     = "Go's ReverseProxy" // what a front in Go can cost at the least
)

// serveHTTP answers over streamable HTTP what serve answers on standard input, until in ends.
func (c *child) serveHTTP(address string, in io.Reader) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: c}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = s.Close()
	}()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP answers one message.
func (c *child) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	line, err := io.ReadAll(io.LimitReader(r.Body, longestLine))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var reply bytes.Buffer
	out := bufio.NewWriter(&reply)
	c.mu.Lock()
	err = c.answer(out, line)
	c.mu.Unlock()
	switch {
	case err != nil || out.Flush() != nil:
		w.WriteHeader(http.StatusBadRequest)
	case reply.Len() == 0:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(reply.Bytes()) // a client that is gone misses it
	}
}

// through measures what stands before a server over HTTP: nothing, nginx and Go's ReverseProxy as they pass requests
// on, and workbench.
func (b *bench) through(ctx context.Context) (err error) {
	if !slices.ContainsFunc([]string{directFront, nginxFront, goFront, httpFront}, func(f string) bool { return b.wanted(throughWhat, f) }) {
		return nil
	}
	addresses, err := freeAddresses(4)
	if err != nil {
		return err
	}
	server, err := start(ctx, b.child("--http", addresses[0]), nil)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := server.close(); err == nil {
			err = cerr
		}
	}()
	there, err := dialHTTP(ctx, "http://"+addresses[0]+"/mcp", "") // else nginx would answer for it
	if err != nil {
		return err
	}
	there.close()
	path, err := b.write("through", toolboxes(map[string]any{}, map[string]any{"url": "http://" + addresses[0] + "/mcp"}))
	if err != nil {
		return err
	}
	// The server is no process of this front; cat stands for it.
	fronts := []front{{name: directFront, argv: []string{"cat"}, url: "http://" + addresses[0] + "/mcp"}}
	nginx, err := b.nginx(addresses[1], addresses[0])
	if err != nil {
		return err
	}
	if nginx != nil {
		fronts = append(fronts, *nginx)
	} else {
		b.say("no nginx, which is a package of most systems")
	}
	fronts = append(fronts, front{name: goFront, url: "http://" + addresses[3] + "/mcp", argv: []string{b.self, "reverse", addresses[3], addresses[0]}})
	own := b.gateway(b.serving(path), addresses[2])
	own.box, own.way = true, useTool
	fronts = append(fronts, own)
	b.say("a server over HTTP")
	return b.inTurns(ctx, b.rounds, fronts, []string{throughWhat}, func(c *conversation, _ string) (*request, error) {
		return answerOf(c.caller, c.way, "200 B")
	}, func(c cell, r *row) error {
		if err := b.oneByOne(c, r); err != nil {
			return err
		}
		_, err := b.rated(c, r)
		return err
	})
}

// runReverse serves HTTP at an address by the reverse proxy of Go's library before a server, on connections that it
// keeps, until it is killed.
func runReverse(address, server string) error {
	to := &url.URL{Scheme: "http", Host: server}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 2 * crowdWidth},
	}
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Else a reply that comes at once closes the request's body while the proxy still looks whether there is more
		// of it.
		_ = http.NewResponseController(w).EnableFullDuplex()
		proxy.ServeHTTP(w, r)
	}))
}

// nginx is the reverse proxy before a server, on connections that it keeps; nil where it is not installed.
func (b *bench) nginx(address, server string) (*front, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			return nil, nil
		}
	}
	dir := filepath.Join(b.dir, "nginx")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off;
worker_processes auto;
pid %[1]s/pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	keepalive_requests 1000000000;
	upstream server { server %[2]s; keepalive 128; keepalive_requests 1000000000; }
	server {
		listen %[3]s;
		location / { proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection ""; }
	}
}
`, dir, server, address)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return &front{name: nginxFront, url: "http://" + address + "/mcp", argv: []string{program, "-e", "stderr", "-p", dir, "-c", conf}}, nil
}
