package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What is measured of finding tools and of reading on in large results, as the table names it.
const (
	findWhat      = "find among 3,324 tools"
	firstFindWhat = "first find among 3,324 tools"
	pageWhat      = "page of a result of 10 MB"
	unsearched    = "workbench, nothing searched"
	linesFront    = "workbench lines"
	grepFront     = "workbench grep"
	pathFront     = "workbench path"
)

const (
	findEach = 66 // tools of a server, each of which has a toolbox
	hugeTool = "answer_10m"
	hugeSize = 10_000_000
)

// finds measures workbench_find_tools among many tools of servers that were seen before and do not run, and what a
// search leaves in memory.
func (b *bench) finds(ctx context.Context) error {
	if !b.wanted(findWhat, nameFront) && !b.wanted(firstFindWhat, nameFront) {
		return nil
	}
	b.say("finding tools")
	f, err := b.findFront(ctx)
	if err != nil {
		return err
	}
	for range b.series {
		if err := b.takeFinds(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// findFront is workbench with all the tools, each of whose servers was started once.
func (b *bench) findFront(ctx context.Context) (f front, err error) {
	r := rand.New(rand.NewPCG(1, 2))
	boxes := make(map[string]any)
	servers := max(1, b.found/findEach)
	for i := range servers {
		var list struct {
			Tools []any `json:"tools"`
		}
		for k := i; k < b.found; k += servers {
			list.Tools = append(list.Tools, map[string]any{
				"name":        fmt.Sprintf("%s_%d", strings.ReplaceAll(toolWords(r, 12), " ", "_"), k),
				"description": toolWords(r, 60+r.IntN(120)),
				"inputSchema": map[string]any{"type": "object", "properties": map[string]any{toolWords(r, 8): map[string]any{"type": "string", "description": toolWords(r, 40)}}},
			})
		}
		file, err := b.write(fmt.Sprintf("found-%d", i), list)
		if err != nil {
			return f, err
		}
		boxes[fmt.Sprintf("box-%d", i)] = map[string]any{"description": "Tools of sort " + fmt.Sprint(i), "mcpServers": map[string]any{serverName: entry(b.child("--list", file))}}
	}
	path, err := b.write("found", map[string]any{"openTimeout": "60s", "toolboxes": boxes})
	if err != nil {
		return f, err
	}
	cache := filepath.Join(b.dir, "found-cache")
	f = front{name: nameFront, argv: b.serving(path), env: []string{"XDG_CACHE_HOME=" + cache}}
	return f, b.do(ctx, f.env, "index", "--config", path)
}

// toolWords are some words of those that names and descriptions of tools are made of.
func toolWords(r *rand.Rand, size int) string {
	return strings.TrimSpace(words(r, "account archive article backup balance branch browser build calendar chart city client cloud column commit "+
		"contact convert create customer database delete deploy document download edit event export fetch file filter flight folder forecast "+
		"function graph group history hotel image import index invoice issue label language list map market match measure merge message metric "+
		"monitor movie network note order package page parse patch payment player playlist price product profile project publish pull query "+
		"record release rename report repository request review route schedule schema search sensor server session sheet song status stock "+
		"store stream summary table tag task team template text ticket token track translate trend update upload user video weather window", size))
}

// takeFinds measures the first search of a session, which makes the index, and those after it.
func (b *bench) takeFinds(ctx context.Context, f front) error {
	c, err := f.begin(ctx)
	if err != nil {
		return err
	}
	err = func() error {
		pid := c.cmd.Process.Pid
		// What it has when it has answered as many requests that search nothing: what it takes to have begun is not the
		// search's.
		idle := &request{method: "tools/call", params: `{"name":"workbench_status","arguments":{}}`}
		line, err := c.Call(idle.method, idle.params)
		if err == nil {
			err = idle.measure(line)
		}
		if err == nil {
			_, err = c.Sequence(idle, b.sequence)
		}
		if err != nil {
			return err
		}
		if mb, ok := anonymous(pid); ok {
			b.report.row(findWhat, unsearched).add(memory, mb)
		}
		q := &request{method: "tools/call", params: `{"name":"workbench_find_tools","arguments":{"query":"which tool opens a ticket, with the words: ` + toolWords(rand.New(rand.NewPCG(3, 4)), 60) + `"}}`}
		begun := time.Now()
		line, err = c.Call(q.method, q.params)
		took := time.Since(begun)
		if err != nil {
			return err
		}
		if err := q.measure(line); err != nil {
			return err
		}
		b.report.row(firstFindWhat, nameFront).addTimes([]time.Duration{took})
		more, err := c.Sequence(q, b.sequence)
		if err != nil {
			return err
		}
		r := b.report.row(findWhat, nameFront)
		r.addTimes(more)
		if mb, ok := anonymous(pid); ok {
			r.add(memory, mb)
		}
		return r.addTokens(line)
	}()
	if cerr := c.close(); err == nil {
		err = cerr
	}
	if err != nil {
		return c.fault(err)
	}
	return nil
}

// pages measures reading on in a large result that was kept.
func (b *bench) pages(ctx context.Context) error {
	type reading struct{ name, how string }
	fronts := []reading{{linesFront, `"page":700`}, {grepFront, `"grep":"took=.*#77777[^0-9]"`}, {pathFront, `"path":"$.rows[70000:70100].id"`}}
	fronts = slices.DeleteFunc(fronts, func(f reading) bool { return !b.wanted(pageWhat, f.name) })
	if len(fronts) == 0 {
		return nil
	}
	b.say("pages of a large result")
	file, err := b.write("huge", map[string]any{"tools": []any{map[string]any{"name": hugeTool, "inputSchema": map[string]any{"type": "object"}}}})
	if err != nil {
		return err
	}
	server := entry(b.child("--list", file))
	server["largeResults"] = map[string]any{"do": "preview"}
	path, err := b.write("pages", toolboxes(map[string]any{}, server))
	if err != nil {
		return err
	}
	c, err := front{name: nameFront, argv: b.serving(path)}.begin(ctx)
	if err != nil {
		return err
	}
	defer c.close() // what it did until now has been measured
	line, err := c.Call("tools/call", fmt.Sprintf(`{"name":"workbench_use_tool","arguments":{"toolbox_name":%q,"tool_name":%q}}`, toolboxName, hugeTool))
	if err != nil {
		return c.fault(err)
	}
	_, rest, ok := strings.Cut(string(line), "workbench://results/")
	if !ok {
		return c.fault(fmt.Errorf("got no preview of the large result: %s", clip(line)))
	}
	id := rest[:strings.IndexAny(rest, `"\ .`)]
	for range b.rounds {
		for _, f := range fronts {
			q := &request{method: "tools/call", params: fmt.Sprintf(`{"name":"workbench_read_result","arguments":{"id":%q,%s}}`, id, f.how)}
			line, err := c.Call(q.method, q.params)
			if err == nil {
				err = q.measure(line)
			}
			if err != nil {
				return c.fault(fmt.Errorf("%s: %w", f.name, err))
			}
			took, err := c.Sequence(q, effort{calls: b.sequence.calls})
			if err != nil {
				return c.fault(fmt.Errorf("%s: %w", f.name, err))
			}
			r := b.report.row(pageWhat, f.name)
			r.addTimes(took)
			if err := r.addTokens(line); err != nil {
				return c.fault(fmt.Errorf("%s: %w", f.name, err))
			}
		}
	}
	return nil
}

// addTokens adds what the texts of an answer cost a model, of four bytes each.
func (r *row) addTokens(line []byte) error {
	text, err := textOf(line)
	if err != nil {
		return err
	}
	r.add(tokens, float64(len(text))/4)
	return nil
}

// hugeResult makes a result whose text is JSON of about hugeSize bytes, one row a line.
func hugeResult() []byte {
	var text strings.Builder
	text.WriteString("{\"rows\":[\n")
	for i := 0; text.Len() < hugeSize; i++ {
		if i > 0 {
			text.WriteString(",\n")
		}
		fmt.Fprintf(&text, `{"id":%d,"line":"info: request served took=1.2ms #%d","open":%t,"path":"/v1/items/%d"}`, i, i, i%7 == 0, i*31)
	}
	text.WriteString("\n]}")
	quoted, _ := json.Marshal(text.String()) // text of ours is JSON
	return fmt.Appendf(nil, `,"result":{"content":[{"type":"text","text":%s}]}}`+"\n", quoted)
}
