package mcpserve

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// maxFolders bounds the folders of one client, and foldersTime how long a call waits for them: a client that has not
// said by then where it works is taken to work nowhere until it says so.
const (
	maxFolders  = 16
	foldersTime = 10 * time.Second
)

// folders are those that a client of the legacy era works in, its roots.
type folders struct {
	telling sync.Mutex // held while the server is told

	mu     sync.Mutex // guards what follows
	known  bool
	list   []string
	asked  int                // changes that the client told of
	cancel context.CancelFunc // of the question that no call waits for
	closed bool
}

// take notes what the client answered to a question that was put when it had told of so many changes.
func (f *folders) take(asked int, list []string) (news bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if asked != f.asked {
		return false
	}
	news = !slices.Equal(list, f.list)
	f.known, f.list = true, list
	return news
}

// tell tells the server of news. What it hears last is what is known, however long it takes over what it heard before.
func (f *folders) tell(moved func(list []string)) {
	f.telling.Lock()
	defer f.telling.Unlock()
	list, _, _ := f.state()
	moved(list)
}

// state is what is known.
func (f *folders) state() (list []string, known bool, asked int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list, f.known, f.asked
}

// renew forgets what is known, and gives the context of the next question; nil if the session is closed.
func (f *folders) renew() context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	if f.cancel != nil {
		f.cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.known, f.cancel = false, cancel
	f.asked++
	return ctx
}

func (f *folders) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.cancel != nil {
		f.cancel()
	}
}

// askFolders asks a client of the legacy era where it works, now or once more, and has the server told of news.
func (s *Session) askFolders() {
	ask := s.asks.asker(roots, "roots/list", s.send)
	if s.server.Moved == nil || ask == nil {
		return
	}
	ctx := s.folders.renew()
	if ctx == nil {
		return
	}
	_, _, asked := s.folders.state()
	s.told.Go(func() { s.learnFolders(ctx, ask, asked) })
}

func (s *Session) learnFolders(ctx context.Context, ask Asker, asked int) {
	result, err := ask(ctx, []byte(`{}`))
	if ctx.Err() != nil {
		return
	}
	var list []string
	if err == nil {
		list = readFolders(result)
	}
	if s.folders.take(asked, list) {
		s.folders.tell(s.server.Moved)
	}
}

// inFolders gives where the client works. It asks once more if an earlier question is not answered: the answer to one
// that belongs to a call gets through where others may not.
func (s *Session) inFolders(ctx context.Context) []string {
	list, known, asked := s.folders.state()
	ask := s.asks.asker(roots, "roots/list", s.send)
	if known || ask == nil {
		return list
	}
	limited, cancel := context.WithTimeout(ctx, foldersTime)
	defer cancel()
	s.learnFolders(limited, ask, asked)
	if ctx.Err() == nil && limited.Err() != nil {
		s.folders.take(asked, nil)
	}
	list, _, _ = s.folders.state()
	return list
}

// readFolders gives the folders of this machine that the result of roots/list names.
func readFolders(result []byte) []string {
	var answer struct {
		Roots []struct {
			URI string `json:"uri"`
		} `json:"roots"`
	}
	if json.Unmarshal(result, &answer) != nil {
		return nil
	}
	var list []string
	for _, root := range answer.Roots {
		if folder, ok := folderOf(root.URI); ok && len(list) < maxFolders && !slices.Contains(list, folder) {
			list = append(list, folder)
		}
	}
	return list
}

// folderOf is the folder of this machine that a URI names.
func folderOf(uri string) (folder string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || strings.HasPrefix(u.Path, "//") {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	path = filepath.FromSlash(path)
	return filepath.Clean(path), filepath.IsAbs(path) && !strings.ContainsRune(path, 0)
}

// foldersKey names the question for the folders of a client in a result.
const foldersKey = "roots"

// A foldersState is the requestState of a question that is put after that for the folders.
type foldersState struct {
	Folders []string `json:"folders"`
	State   string   `json:"state"`
}

// readModernFolders gives where a client of the modern era works; known is false if it is to be asked. What a call
// brings with the answer to a later question stands in its state, which becomes that of the question.
func readModernFolders(m *wire.Message, answer *Answer) (list []string, known bool) {
	if reply := m.Get(m.Params, "inputResponses", foldersKey); reply != nil {
		return readFolders(reply), true
	}
	var s foldersState
	if answer == nil || json.Unmarshal([]byte(answer.State), &s) != nil {
		return nil, answer != nil
	}
	answer.State = s.State
	return slices.DeleteFunc(s.Folders, func(folder string) bool { return !filepath.IsAbs(folder) }), true
}

// withFolders puts the folders into the state of a question.
func withFolders(list []string, state string) string {
	if list == nil {
		return state
	}
	return string(wire.MustEncode(foldersState{list, state}))
}
