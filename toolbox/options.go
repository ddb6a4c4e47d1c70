package toolbox

import (
	"context"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/alike"
	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/group"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Peer is the client's side as a server sees it.
type Peer interface {
	// Notification takes a notification that concerns the client: logging, resource updates, and whatever this program
	// does not know. m is valid only during the call. belongs is the handler of the call that it belongs to, nil where
	// the server cannot say that.
	Notification(s *Server, m *wire.Message, belongs CallHandler)
	// Request takes a request of the server, to be answered by a.Reply or a.Refuse. m is valid only during the call.
	Request(a *Ask, m *wire.Message)
	// Withdraw says that a needs no answer any more: the server cancelled it with notification m, or, with m nil, is
	// gone. It comes when Request has returned.
	Withdraw(a *Ask, m *wire.Message)
	// Changed says that a list of the server is other than before, or that the server has become ready.
	Changed(s *Server, k Kind)
}

// Builtin makes a server inside this process from its configuration, for somebody. Its sessions are theirs alone.
type Builtin func(principal.Principal, config.Server) (wire.Endpoint, error)

// Options are what a toolbox needs from the program around it.
type Options struct {
	// Client is what servers are told of the client; Peer is its side.
	Client Client
	Peer   Peer
	// Unread is the account of what the client has not read. Where it is full the servers are not read either until it
	// is not. nil means that what they say goes to the client at once.
	Unread *account.Account
	// Principal is for whom servers inside this process are made. The zero value is nobody in particular: several
	// clients share the servers.
	Principal principal.Principal
	// Builtins make the servers inside this process, by config.Server.Builtin.
	Builtins map[string]Builtin
	// Spawn starts a child process; nil means child.Start.
	Spawn func(child.Spec) (*child.Process, error)
	// Turn waits until the server of that name may be started, which names its command line, and returns what to call
	// when it has; the error says why it could not wait, or that ctx ended. nil means that nothing is waited for.
	Turn func(ctx context.Context, name string) (done func(), err error)
	// MaxMessage is the longest message taken from a server, in bytes; 0 means wire.DefaultMaxMessage.
	MaxMessage int
	// Environ is our environment, KEY=VALUE, of which children get a part.
	Environ []string
	// Sandboxes is the folder in which sandboxed servers have folders of their own; "" if there is none, and those
	// cannot start.
	Sandboxes string
	// Secret looks a secret up that a server wants; nil means that there are none. The error says what to do.
	Secret func(ctx context.Context, secret config.Secret) (string, error)
	// HTTP makes the requests to remote servers; nil means a [remote.Client] of its own. Redirects are followed within
	// an origin only, whatever it says.
	HTTP *http.Client
	// Logins are the tokens for remote servers that want one; nil means that there are none.
	Logins *oauth.Store
	// Login hears that the login to a server was renewed by this process, or with an error why it could not be; nil
	// means nobody does.
	Login func(toolbox, server string, err error)
	// Catalogue keeps what was seen of servers, so that they can be spoken of before they have started; nil means that
	// each is waited for.
	Catalogue *catalogue.Catalogue
	// IdleTimeout is after how long without use servers are stopped, and started again when they are wanted, whose
	// configuration does not say; 0 means never. It does not concern servers in this process.
	IdleTimeout time.Duration
	// Texts keeps once what servers define alike, for this toolbox and those of other clients; nil means that each has its
	// own.
	Texts *alike.Pool
	// Masks are told the secrets of servers, so that they are taken out of what is kept of calls and of what servers
	// write; nil means that nothing is.
	Masks *mask.Set
	// Event hears of each change of a server's state; nil means nobody does.
	Event func(Event)
	// Logger takes what servers write to stderr, at debug. The zero value is silent.
	Logger zerolog.Logger
}

// surroundings are what a toolbox gives all its servers.
type surroundings struct {
	opts Options
	bufs wire.Buffers
	// ctx is the life of everything below the toolbox. It is kept because it is longer than that of any request: Open
	// begins it, Close ends it.
	ctx    context.Context
	cancel context.CancelCauseFunc
	tasks  group.Group // one goroutine a server, and those that read lists
}
