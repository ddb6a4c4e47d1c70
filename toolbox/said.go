package toolbox

import (
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/offered"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// introduction is what a server last said of itself, in this run or another; nothing before that.
type introduction struct{ hello atomic.Pointer[rpc.Hello] }

// words are what the server says of itself besides its lists; nil if that is not known.
func (i *introduction) words() *offered.Said {
	if h := i.hello.Load(); h.Version != "" {
		return &offered.Said{Info: h.Info, Instructions: h.Instructions}
	}
	return nil
}

// Capabilities returns the capabilities object that the server declared, and Instructions what it says of its use, both
// when it was last ready; they are empty if that is not known.
func (i *introduction) Capabilities() []byte { return i.hello.Load().RawCapabilities }

// Instructions returns the server's own instructions, if it gave any.
func (i *introduction) Instructions() foreign.Lines {
	text, _ := wire.Unquote(i.hello.Load().Instructions)
	return foreign.NewLines(text)
}

// Offers reports whether the server said, when it was last ready, that it has such a list.
func (i *introduction) Offers(k Kind) bool { return offers(i.hello.Load(), k) }

// Era is that of the server when it was last ready, Unknown of one that was not seen yet.
func (i *introduction) Era() eras.Era { return i.hello.Load().Era }
