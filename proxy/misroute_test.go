package proxy_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// drawsOf is how many names are drawn: many where WORKBENCH_DRAWS says so.
func drawsOf(t *testing.T, few int) int {
	text, ok := os.LookupEnv("WORKBENCH_DRAWS")
	if !ok {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// No name that a server chooses, and no order of events, leads a call to another tool than the one that is meant. What
// is meant is said by an oracle that knows nothing of how the names are looked up.
func TestHostileNames(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	draws, met := drawsOf(t, 5000), make(map[string]int)
	for n := 0; n < draws && !t.Failed(); {
		w := newNameWorld(r)
		for range 6 {
			w.change()
			w.look(t)
			for range 40 {
				w.draw(t, met)
				n++
			}
		}
	}
	t.Logf("%d draws: %v", draws, met)
	for _, kind := range []string{"seen", "unseen", "used", "unused"} {
		if met[kind] < draws/50 { // worlds differ: of 500 runs the fewest were 207 of 5000
			t.Errorf("of %d draws %d were %s, want more: the test tests nothing", draws, met[kind], kind)
		}
	}
}

// nameWorld is a session and what the oracle knows of it.
type nameWorld struct {
	r      *rand.Rand
	naming *proxy.Naming
	direct bool
	boxes  []config.Toolbox
	tools  []proxy.Named
	shown  []string

	ever  []proxy.Named // servers of all configurations, without keys
	past  []proxy.Named // tools that there were
	given map[[2]string]proxy.Named
}

var (
	boxNames    = []string{"tb", "fs", "none", "a", "a__b", "my box", strings.Repeat("t", 40)}
	serverNames = []string{
		"fs", "z", "tb", "a", "a__b", "a_", "-b", "my server", "my_server", "my.server", "workbench", "größe",
		strings.Repeat("s", 40), strings.Repeat("s", 40) + "t",
	}
	honestKeys = []string{
		"read", "write_file", "x", "get_0123456789", "list-all", "ns/tool", "a.b", "Übung",
		strings.Repeat("long_", 14),
	}
	metaNames = []string{
		"workbench_open_toolbox", "workbench_use_tool", "workbench_status", "workbench_later",
		"open_toolbox", "use_tool",
	}
)

func newNameWorld(r *rand.Rand) *nameWorld {
	w := &nameWorld{r: r, naming: proxy.NewNaming(), direct: r.IntN(4) == 0, given: make(map[[2]string]proxy.Named)}
	for range 1 + r.IntN(3) {
		w.addBox()
	}
	return w
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func (w *nameWorld) addBox() {
	name := pick(w.r, boxNames)
	same := func(b config.Toolbox) bool { return b.Name == name }
	if w.direct && len(w.boxes) > 0 || slices.ContainsFunc(w.boxes, same) {
		return
	}
	b := config.Toolbox{Name: name, Prefix: pick(w.r, []config.Prefix{config.PrefixToolbox, config.PrefixNone})}
	w.boxes = slices.Insert(w.boxes, w.r.IntN(len(w.boxes)+1), b)
	for range 1 + w.r.IntN(3) {
		w.addServer(name)
	}
}

func (w *nameWorld) box(name string) *config.Toolbox {
	i := slices.IndexFunc(w.boxes, func(b config.Toolbox) bool { return b.Name == name })
	return &w.boxes[i]
}

func (w *nameWorld) addServer(box string) {
	b, name := w.box(box), pick(w.r, serverNames)
	if slices.ContainsFunc(b.Servers, func(s config.Server) bool { return s.Name == name }) {
		return
	}
	b.Servers = slices.Insert(b.Servers, w.r.IntN(len(b.Servers)+1), config.Server{Name: name})
	for range w.r.IntN(6) {
		w.addTool(box, name)
	}
}

func (w *nameWorld) addTool(box, server string) {
	key := pick(w.r, honestKeys)
	if w.r.IntN(2) == 0 {
		key = cmp.Or(w.hostile(), key) // what has no name is in no list
	}
	w.tools = slices.Insert(w.tools, w.r.IntN(len(w.tools)+1), proxy.Named{Toolbox: box, Server: server, Key: key})
}

// remove takes away the tools that match, and remembers them.
func (w *nameWorld) remove(match func(proxy.Named) bool) {
	for _, t := range w.tools {
		if match(t) {
			w.past = append(w.past, t)
		}
	}
	w.tools = slices.DeleteFunc(w.tools, match)
}

// change has something happen to the configuration or the lists, and gives the session the new state.
func (w *nameWorld) change() {
	for range w.r.IntN(4) {
		b := &w.boxes[w.r.IntN(len(w.boxes))]
		switch w.r.IntN(8) {
		case 0:
			w.addBox()
		case 1:
			if len(w.boxes) > 1 {
				name := b.Name
				w.remove(func(t proxy.Named) bool { return t.Toolbox == name })
				w.boxes = slices.DeleteFunc(w.boxes, func(b config.Toolbox) bool { return b.Name == name })
			}
		case 2:
			b.Prefix = pick(w.r, []config.Prefix{config.PrefixToolbox, config.PrefixNone})
		case 3:
			w.addServer(b.Name)
		case 4:
			if len(b.Servers) > 0 {
				i := w.r.IntN(len(b.Servers))
				name := b.Servers[i].Name
				w.remove(func(t proxy.Named) bool { return t.Toolbox == b.Name && t.Server == name })
				b.Servers = slices.Delete(b.Servers, i, i+1)
			}
		case 5:
			if len(w.tools) > 0 {
				gone := pick(w.r, w.tools)
				w.remove(func(t proxy.Named) bool { return t == gone })
			}
		default:
			if len(b.Servers) > 0 {
				w.addTool(b.Name, pick(w.r, b.Servers).Name)
			}
		}
	}
	for _, b := range w.boxes {
		for _, s := range b.Servers {
			if of := (proxy.Named{Toolbox: b.Name, Server: s.Name}); !slices.Contains(w.ever, of) {
				w.ever = append(w.ever, of)
			}
		}
	}
	w.shown = w.naming.Become(w.direct, w.boxes, w.tools)
}

// forms are what a tool is called by, and what it is not.
func (w *nameWorld) forms(t proxy.Named) []string {
	sum := sha256.Sum256([]byte(t.Toolbox + "\x00" + t.Server + "\x00" + t.Key))
	digest := hex.EncodeToString(sum[:5])
	exposed := toolbox.ExposedName(t.Toolbox, t.Server, t.Key)
	return []string{
		t.Key, t.Server + "/" + t.Key, t.Toolbox + "/" + t.Server + "/" + t.Key, t.Server + "__" + t.Key,
		t.Toolbox + "__" + t.Server + "__" + t.Key, exposed, exposed, toolbox.ExposedName("", t.Server, t.Key),
		t.Toolbox + "/" + t.Key, t.Toolbox + "__" + t.Key, t.Server + "_" + t.Key, t.Server + "." + t.Key,
		t.Key + "_" + digest, "_" + t.Key + "_" + digest, exposed + "_" + digest, exposed[:len(exposed)-1],
		exposed[:min(len(exposed), 37)] + "_" + digest, exposed[:min(len(exposed), 37)], exposed + "_",
		toolbox.ExposedName(t.Toolbox, t.Server, t.Key+"\x00"), toolbox.ExposedName(t.Toolbox, t.Server+"_", t.Key),
		"workbench://" + t.Toolbox + "/" + t.Server + "/" + t.Key, "/" + t.Key, t.Key + "/", "__" + t.Key,
		t.Server + "/", t.Server + "__",
	}
}

// hostile makes a name that somebody else's could be.
func (w *nameWorld) hostile() string {
	name := pick(w.r, metaNames)
	if known := slices.Concat(w.tools, w.past); len(known) > 0 && w.r.IntN(8) > 0 {
		name = pick(w.r, w.forms(pick(w.r, known)))
	} else if len(w.boxes) > 0 && len(w.boxes[0].Servers) > 0 && w.r.IntN(2) == 0 {
		b := w.boxes[0]
		name = pick(w.r, w.forms(proxy.Named{Toolbox: b.Name, Server: pick(w.r, b.Servers).Name, Key: pick(w.r, honestKeys)}))
	}
	for w.r.IntN(3) == 0 {
		name = w.disguise(name)
	}
	return name
}

// disguise makes another name that looks the same, or nearly.
func (w *nameWorld) disguise(name string) string {
	swap := func(from, to string) string { return strings.Replace(name, from, to, 1+w.r.IntN(2)) }
	i := w.r.IntN(len(name) + 1)
	switch w.r.IntN(14) {
	case 0:
		return strings.ToUpper(name)
	case 1:
		return strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]
	case 2:
		return swap("/", pick(w.r, []string{"\u2044", "\u2215", "\uff0f", "//", "\\", "%2f", "__"}))
	case 3:
		return swap("_", pick(w.r, []string{"\u2017", "\uff3f", "__", "-", "/"}))
	case 4:
		return swap("e", pick(w.r, []string{"\u0435", "\uff45", "e\u0301"}))
	case 5:
		return name[:i] + pick(w.r, []string{"\u200b", "\u202e", "\ufeff", "\x00", " ", "\n", "\x1b[m"}) + name[i:]
	case 6:
		return name[:i]
	case 7:
		return name[i:] + "x"
	case 8:
		return name + name
	case 9:
		return name + pick(w.r, []string{" ", "_", "/", "_0123456789"})
	case 10:
		return pick(w.r, []string{" ", "_", "/", "./", "../"}) + name
	case 11:
		return pick(w.r, serverNames) + pick(w.r, []string{"/", "__"}) + name
	case 12:
		return pick(w.r, boxNames) + pick(w.r, []string{"/", "__"}) + name
	}
	return strings.ToLower(name) + "\xff"
}

// look holds the names that clients see against what the oracle says, and has the client be given them sometimes.
func (w *nameWorld) look(t *testing.T) {
	seen := make(map[string]proxy.Named)
	for i, tool := range w.tools {
		name := w.shown[i]
		if other, ok := seen[name]; ok && other != tool {
			t.Errorf("%+v and %+v are both seen as %q", other, tool, name)
		}
		seen[name] = tool
		if want := w.seenAs(tool); want != "" && name != want {
			t.Errorf("%+v is seen as %q, want %q\n%s", tool, name, want, w)
		}
	}
	if w.r.IntN(2) == 0 {
		return
	}
	box := pick(w.r, w.boxes).Name
	w.naming.Give(box)
	for name, tool := range seen {
		if name == tool.Key {
			w.given[[2]string{"", name}] = tool
		}
	}
	for _, tool := range w.tools {
		if of := w.owners(box, tool.Key); !w.direct && tool.Toolbox == box && len(of) == 1 {
			w.give(box, tool.Key, tool)
		}
	}
}

// draw calls something by some name.
func (w *nameWorld) draw(t *testing.T, met map[string]int) {
	name := w.name()
	if w.direct || len(w.ever) == 0 || w.r.IntN(3) == 0 {
		got, err := w.naming.Meant("", "", name)
		w.judge(t, met, "seen", fmt.Sprintf("%q", name), w.seen(name), got, err)
		return
	}
	of := w.ever[w.r.IntN(len(w.ever))]
	server := ""
	if w.r.IntN(4) == 0 {
		server = of.Server
	}
	got, err := w.naming.Meant(of.Toolbox, server, name)
	what := fmt.Sprintf("%q of %q of %q", name, server, of.Toolbox)
	w.judge(t, met, "used", what, w.used(of.Toolbox, server, name), got, err)
}

// name chooses a name to call something by.
func (w *nameWorld) name() string {
	switch known := slices.Concat(w.tools, w.tools, w.past); {
	case len(known) > 0 && w.r.IntN(3) > 0:
		return pick(w.r, w.forms(pick(w.r, known)))
	case len(w.shown) > 0 && w.r.IntN(2) == 0:
		return pick(w.r, w.shown)
	}
	return w.hostile()
}

// judge compares what is meant with what the oracle says.
func (w *nameWorld) judge(
	t *testing.T, met map[string]int, kind, what string, want *proxy.Named, got proxy.Named, err error,
) {
	switch {
	case want == nil:
		met["un"+kind]++
		if err == nil {
			t.Errorf("%s %s is %+v, want none\n%s", kind, what, got, w)
		}
	default:
		met[kind]++
		if err != nil || got != *want {
			t.Errorf("%s %s is %+v (%v), want %+v\n%s", kind, what, got, err, *want, w)
		}
	}
}

func (w *nameWorld) String() string {
	return fmt.Sprintf("direct %t\ntools %q\nshown %q\never %q\ngiven %q", w.direct, w.tools, w.shown, w.ever, w.given)
}
