package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// certificatePeriod is how often is looked, at most, whether the certificate is another.
const certificatePeriod = time.Second

// maxPEM is the most bytes that a certificate or a key may have.
const maxPEM = 1 << 20

// certificatePair is that of --tls-cert and --tls-key. It is read anew for the next connection when a file is another:
// certificates are renewed while programs run.
type certificatePair struct {
	files [2]string // of the certificate and of its key
	log   zerolog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	read   [2]os.FileInfo // the files of the pair
	looked time.Time
	told   string // why they cannot be read again
}

// certificate reads what is needed for TLS; nil without.
func (o *httpFlags) certificate(log zerolog.Logger) (*tls.Config, error) {
	switch {
	case o.tlsCert == "" && o.tlsKey == "":
		return nil, nil
	case o.tlsCert == "" || o.tlsKey == "":
		return nil, cli.Usage(cli.Hint(errors.New("--tls-cert and --tls-key belong together"), "give both: the certificate and its key"))
	}
	c := &certificatePair{files: [2]string{o.tlsCert, o.tlsKey}, log: log}
	if err := c.load(); err != nil {
		return nil, cli.Hint(fmt.Errorf("the certificate cannot be used: %w", err), "--tls-cert is a PEM file with the certificate and those that signed it, --tls-key one with its key without a passphrase; both must be readable by this user")
	}
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}, nil
}

// load reads the certificate, unless the files are as they were then.
func (c *certificatePair) load() error {
	c.looked = time.Now()
	var now [2]os.FileInfo
	same := true
	for i, file := range c.files {
		now[i], _ = os.Stat(file) // reading it says what is wrong
		same = same && isSame(c.read[i], now[i])
	}
	if same && c.pair != nil {
		return nil
	}
	var pem [2][]byte
	for i, file := range c.files {
		var err error
		if pem[i], _, err = openfile.Read(file, maxPEM); err != nil {
			return err
		}
	}
	pair, err := tls.X509KeyPair(pem[0], pem[1])
	if err != nil {
		return err
	}
	c.pair, c.read, c.told = &pair, now, ""
	return nil
}

// isSame reports whether a file was not changed in between; nil is one that is not there.
func isSame(before, now os.FileInfo) bool {
	if before == nil || now == nil {
		return before == nil && now == nil
	}
	return os.SameFile(before, now) && before.ModTime().Equal(now.ModTime()) && before.Size() == now.Size()
}

// get gives a connection the certificate as it is now, or the last one that was good: of two files, one is replaced
// first.
func (c *certificatePair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < certificatePeriod {
		return c.pair, nil
	}
	before := c.pair
	switch err := c.load(); {
	case err != nil && err.Error() == c.told: // what is wrong is said once
	case err != nil:
		c.told = err.Error()
		c.log.Warn().AnErr(logkey.Err, err).Msg("the certificate cannot be read again; the one before stays in use")
	case c.pair != before:
		c.log.Info().Msg("certificate read again")
	}
	return c.pair, nil
}
