package status

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/syserr"
)

const (
	suffix = ".sock"
	// maxPath is the longest path of a socket everywhere: macOS has 104 bytes for it, Linux and Windows 108, and one is
	// for the end.
	maxPath = 103
	// settled is the age from which on a socket that nobody answers on is that of a process that is gone, and not of
	// one that is about to listen.
	settled = 10 * time.Second
	// dialTime bounds connecting to a process on this machine.
	dialTime = time.Second
)

// Listen makes the socket of this process in the first of the folders that will do, which is made if there is none.
// Sockets of processes that are gone are removed from it. Closing the listener removes the socket.
func Listen(ctx context.Context, dirs []string) (net.Listener, error) {
	return openfile.InFirst(dirs, func(dir string) (net.Listener, error) { return listen(ctx, dir) })
}

func listen(ctx context.Context, dir string) (net.Listener, error) {
	path := filepath.Join(dir, fmt.Sprint(os.Getpid(), suffix))
	if len(path) > maxPath {
		return nil, fmt.Errorf("%s: longer than the %d bytes that the path of a socket may have", path, maxPath)
	}
	if err := openfile.MakeFolder(dir, 0o700); err != nil {
		return nil, err
	}
	if err := isPrivate(dir); err != nil {
		return nil, err
	}
	for _, old := range sockets(dir) {
		if isStale(ctx, old) {
			_ = os.Remove(old)
		}
	}
	// A socket of our own number is that of a process before us, or of one in another container that has the folder in
	// common.
	if conn, err := connect(ctx, path); err == nil {
		_ = conn.Close()
		return nil, fmt.Errorf("%s: another process answers on it", path)
	}
	_ = os.Remove(path)
	listen := net.ListenConfig{Control: keepPrivate}
	return listen.Listen(ctx, "unix", path)
}

// connect connects to a process on this machine, which may hang.
func connect(ctx context.Context, path string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "unix", path)
}

// sockets lists those in a folder.
func sockets(dir string) []string {
	entries, _ := os.ReadDir(dir) // a folder that is not there has none
	var paths []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// isStale reports whether the process that made a socket is gone.
func isStale(ctx context.Context, path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type()&(fs.ModeSocket|fs.ModeIrregular) == 0 || time.Since(info.ModTime()) < settled {
		return false // Windows has no name for sockets
	}
	conn, err := connect(ctx, path)
	if err != nil {
		return syserr.IsRefused(err)
	}
	_ = conn.Close()
	return false
}
