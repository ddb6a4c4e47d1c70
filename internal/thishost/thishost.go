// Package thishost tells this machine from others: what goes to it alone may go unencrypted.
package thishost

import (
	"net"
	"strings"
)

// Is reports whether the host of a URL is this machine.
func Is(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}
