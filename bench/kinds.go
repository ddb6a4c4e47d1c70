package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// sources is the code that tools answer with.
//
//go:embed *.go
var sources embed.FS

// kinds are the sorts of results, by what makes about size bytes of one: as text, or as JSON of its own beside a text.
// None repeats itself, so that a processor does not learn it.
func kinds() []struct {
	name             string
	text, structured func(size int) string
} {
	return []struct {
		name             string
		text, structured func(size int) string
	}{
		{"text", loggedText, nil},
		{"code", codeText, nil},
		{"foreign", foreignText, nil},
		{"base64", base64Text, nil},
		{"tools", nil, toolsJSON},
		{"numbers", nil, numbersJSON},
	}
}

// kindSizes are how large the results are.
func kindSizes() []struct {
	label string
	size  int
} {
	return []struct {
		label string
		size  int
	}{{"200 B", 200}, {"10 KB", 10_000}, {"100 KB", 100_000}, {"1 MB", 1_000_000}}
}

// kindCall is a tool of the child that answers with one kind in one size, and the row of its calls.
func kindCall(kind, size string) (tool, what string) {
	return "answer_" + kind + "_" + strings.ReplaceAll(size, " ", ""), size + " of " + kind
}

// kindTools are the names of those tools.
func kindTools() []string {
	var names []string
	for _, k := range kinds() {
		for _, s := range kindSizes() {
			tool, _ := kindCall(k.name, s.label)
			names = append(names, tool)
		}
	}
	return names
}

// kindResult makes the result of such a tool, and the text in it; result is nil if there is none of that name.
func kindResult(tool string) (result []byte, text string) {
	for _, k := range kinds() {
		for _, s := range kindSizes() {
			name, _ := kindCall(k.name, s.label)
			switch {
			case name != tool:
			case k.structured != nil:
				return fmt.Appendf(nil, `{"content":[{"type":"text","text":"done"}],"structuredContent":%s}`, k.structured(s.size)), "done"
			default:
				text := k.text(s.size)
				return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, wire.MustEncode(text)), text
			}
		}
	}
	return nil, ""
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// words are some of a text, in no order.
func words(r *rand.Rand, text string, size int) string {
	from := strings.Fields(text)
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(from[r.IntN(len(from))])
		b.WriteByte(' ')
	}
	return b.String()
}

func loggedText(size int) string {
	r := random(1)
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "2026-03-14T09:%02d:%02dZ level=info msg=\"%s\" path=/v1/items/%d took=%.1fms\n",
			r.IntN(60), r.IntN(60), words(r, "request served from cache by worker after retry", 20), r.IntN(10_000), 10*r.Float64())
	}
	return b.String()[:size]
}

func codeText(size int) string {
	var all bytes.Buffer
	for all.Len() < size {
		_ = fs.WalkDir(sources, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := sources.ReadFile(path)
			all.Write(text)
			return err
		})
	}
	return strings.ToValidUTF8(all.String()[:size], "")
}

func foreignText(size int) string {
	const text = "Größe für Übung çok güzel şeyler 日本語の テキスト を書く 中文字符 测试数据 и ещё немного русских слов " +
		"ελληνικά κείμενο 한국어 문장 입니다 हिन्दी में पाठ and English"
	return strings.ToValidUTF8(words(random(2), text, size)[:size], "")
}

func base64Text(size int) string {
	r := random(3)
	b := make([]byte, size*3/4)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(b)
}

func toolsJSON(size int) string {
	r := random(4)
	const text = "repository path of the file or branch to read search create list issues with optional limit cursor and query"
	var b strings.Builder
	b.WriteString(`{"tools":[{"name":"first"}`)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `,{"name":"tool_%d","description":"%s","inputSchema":{"type":"object","properties":{`, i, words(r, text, 20+r.IntN(150)))
		for k := range r.IntN(6) {
			fmt.Fprintf(&b, `"p%d":{"type":"string","description":"%s","minLength":%d,"x":%v},`, k, words(r, text, 5+r.IntN(60)), r.IntN(1000), r.IntN(2) == 0)
		}
		b.WriteString(`"last":{}},"required":["last"]}}`)
	}
	return b.String() + "]}"
}

func numbersJSON(size int) string {
	r := random(5)
	var b strings.Builder
	b.WriteString(`{"rows":[[0`)
	for b.Len() < size {
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, ",%d", r.IntN(100_000)-50_000)
		case 1:
			fmt.Fprintf(&b, ",%v", r.Float64())
		case 2:
			fmt.Fprintf(&b, ",%.2f", 1000*r.Float64())
		case 3:
			b.WriteString("],[0")
		}
	}
	return b.String() + "]]}"
}

// kinds measures calls that are answered with each kind of result in each size.
func (b *bench) kinds(ctx context.Context) error {
	server := b.child("--kinds")
	serve, err := b.serve("kinds", server, false)
	if err != nil {
		return err
	}
	fronts := []front{
		{name: relayFront, argv: b.behind(server, "relay")},
		{name: nameFront, argv: serve, box: true},
		{name: useFront, argv: serve, box: true, way: useTool},
	}
	var whats []string
	tools, texts := make(map[string]string), make(map[string]string)
	for _, s := range kindSizes() {
		for _, k := range kinds() {
			if s.size > b.largest {
				continue
			}
			tool, what := kindCall(k.name, s.label)
			tools[what] = tool
			_, texts[what] = kindResult(tool)
			whats = append(whats, what)
		}
	}
	b.say("kinds of results")
	return b.inTurns(ctx, b.kindRounds, fronts, whats, func(c *conversation, what string) (*request, error) {
		return callOf(c.caller, c.way, tools[what], arguments, texts[what])
	}, func(c cell, r *row) error {
		e := b.kindSequence
		if c.rest > 50_000 {
			e.time /= 3 // longer calls scatter less, in parts
		}
		return c.costs(r, func() (int, error) {
			took, err := c.Sequence(c.request, e)
			if err == nil {
				r.addTimes(took)
			}
			return len(took), err
		})
	})
}

// printRatios writes how the p50 of each kind of result compares with the relay's, round by round: the quartiles of
// that.
func printRatios(w io.Writer, t *report) error {
	const limit = 1.3
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := fmt.Sprintf("p50 as a multiple of the relay's\tlower quartile\tmedian\tupper quartile\t≤ %g\t\n", limit)
	for _, s := range kindSizes() {
		for _, k := range kinds() {
			_, what := kindCall(k.name, s.label)
			relay := t.find(what, relayFront)
			for _, name := range []string{nameFront, useFront} {
				r := t.find(what, name)
				if r == nil || relay == nil {
					continue
				}
				ratios := make([]float64, len(r.figures[p50]))
				for i, v := range r.figures[p50] {
					ratios[i] = v / relay.figures[p50][i]
				}
				slices.Sort(ratios)
				verdict := "missed"
				if median(ratios) <= limit {
					verdict = "met"
				}
				fmt.Fprintf(tw, "%s%s, %s\t%s\t%s\t%s\t%s\t\n", head, what, name,
					figure(ratios[len(ratios)/4]), figure(median(ratios)), figure(ratios[len(ratios)*3/4]), verdict)
				head = ""
			}
		}
	}
	return tw.Flush()
}

// bandwidth says how fast this machine copies memory, in GB/s: the best of some copies that fit no cache.
func bandwidth() string {
	from, to := make([]byte, 64<<20), make([]byte, 64<<20)
	for i := range from {
		from[i] = byte(i) // or both would be the same page of zeros
	}
	copy(to, from)
	best := time.Duration(1<<63 - 1)
	for range 5 {
		begun := time.Now()
		copy(to, from)
		best = min(best, time.Since(begun))
	}
	return fmt.Sprintf(", memory copied at %.1f GB/s", float64(len(from))/float64(best.Nanoseconds()))
}
