package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mcp-workbench/workbench/internal/find"
)

// findOptions say what the finder is measured by.
type findOptions struct {
	shared string    // the folder of tools.json and queries.json
	sets   []findSet // public ones
}

// sharedTask is a task of queries.json.
type sharedTask struct {
	Needed  []string
	Queries []struct{ Server, Tool string }
}

// measureFind measures the finder.
func measureFind(ctx context.Context, args []string, out, errs io.Writer) error {
	var o findOptions
	f := flag.NewFlagSet("bench find", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.shared, "data", "../shared/find", "the `folder` with tools.json and queries.json")
	f.Func("set", "a public `set=checkout` to measure Recall@5 on: mcpproxy (of smart-mcp-proxy/mcpproxy-go), metatool (HowieHwong/MetaTool),\n"+
		"stabletoolbench (THUNLP-MT/StableToolBench), or mcp-tef (StacklokLabs/mcp-tef, tools alone) (repeatable)", func(s string) error {
		name, dir, _ := strings.Cut(s, "=")
		read := setReaders()[name]
		if read == nil || dir == "" {
			return errors.New("want SET=CHECKOUT with a set that is known")
		}
		sets, err := read(dir)
		o.sets = append(o.sets, sets...)
		return err
	})
	if err := f.Parse(args); err != nil {
		return flagError{err}
	}
	if f.NArg() > 0 {
		return usageError{fmt.Errorf("find takes no argument %q; --help lists the flags", f.Arg(0))}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	servers, tasks, err := readShared(o.shared)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "coverage of %d tasks\tbudget\ttokens an answer\tcoverage\n", len(tasks))
	for _, c := range []struct {
		detail find.Detail
		budget int
	}{{find.Names, 220}, {find.Names, 500}, {find.Signatures, 500}, {find.Names, 1200}, {find.Signatures, 1200}} {
		got, tokens := coverage(servers, tasks, c.detail, c.budget)
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.3f\n", c.detail, c.budget, tokens, got)
	}
	fmt.Fprintln(w, "\nRecall@5\ttools\tqueries\tBM25\tworkbench")
	for _, s := range o.sets {
		if len(s.asked) > 0 {
			plain, ours, tools := recall(s)
			fmt.Fprintf(w, "%s\t%d\t%d\t%.3f\t%.3f\n", s.name, tools, len(s.asked), plain, ours)
		}
	}
	all := slices.Clone(servers)
	for i, s := range o.sets {
		if i == 0 || &s.servers[0] != &o.sets[i-1].servers[0] {
			all = append(all, s.servers...)
		}
	}
	tellScale(w, all, tasks)
	if err := w.Flush(); err != nil {
		return err
	}
	p, clean, err := build(ctx)
	if err != nil {
		return err
	}
	defer clean()
	return measureFlow(ctx, p, flowBoxes, servers, tasks, out)
}

// readShared reads the shared tools and tasks.
func readShared(dir string) (servers []find.Server, tasks []sharedTask, err error) {
	var raw []struct {
		Server, Title, Description string
		Tools                      []struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
	}
	if err := readJSON(&raw, dir, "tools.json"); err != nil {
		return nil, nil, err
	}
	for _, r := range raw {
		s := find.Server{Toolbox: "web", Name: r.Server, Title: r.Title, Description: r.Description}
		for _, t := range r.Tools {
			s.Entries = append(s.Entries, find.Entry{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
		}
		servers = append(servers, s)
	}
	return servers, tasks, readJSON(&tasks, dir, "queries.json")
}

// coverage gives the mean share of the tools needed for a task that stand in an answer to one of its queries, and how
// long an answer is.
func coverage(servers []find.Server, tasks []sharedTask, detail find.Detail, budget int) (share, tokens float64) {
	x := find.New(slices.Values(servers))
	size, answers := 0, 0
	for _, task := range tasks {
		seen := make(map[string]bool)
		for _, q := range task.Queries {
			a := x.Answer(q.Server+". "+q.Tool, find.Options{Detail: detail, Budget: budget, State: func(int) string { return "ready" }})
			for _, g := range a.Groups {
				for _, e := range g.Entries {
					seen[servers[g.Server].Entries[e].Name] = true
				}
			}
			size += len(a.Text)
			answers++
		}
		found := 0
		for _, name := range task.Needed {
			if seen[name] {
				found++
			}
		}
		share += float64(found) / float64(len(task.Needed)) / float64(len(tasks))
	}
	return share, float64(size) / 4 / float64(answers)
}

// recall gives the mean share of the wanted tools among the first five, of plain BM25 and of the finder.
func recall(s findSet) (plain, ours float64, tools int) {
	const first = 5
	x, b := find.New(slices.Values(s.servers)), newBM25(s.servers)
	for _, q := range s.asked {
		var names []string
		for _, h := range x.Search(q.text) {
			if len(names) < first && h.Entry >= 0 {
				names = append(names, s.servers[h.Server].Name+"/"+s.servers[h.Server].Entries[h.Entry].Name)
			}
		}
		plain += share(q.wanted, b.best(q.text, first)) / float64(len(s.asked))
		ours += share(q.wanted, names) / float64(len(s.asked))
	}
	return plain, ours, len(b.names)
}

func share(wanted, got []string) float64 {
	n := 0
	for _, w := range wanted {
		if slices.Contains(got, w) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(wanted)))
}

// tellScale tells what an index of all tools costs.
func tellScale(w io.Writer, servers []find.Server, tasks []sharedTask) {
	tools := 0
	for _, s := range servers {
		tools += len(s.Entries)
	}
	debug.FreeOSMemory()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	x := find.New(slices.Values(servers))
	built := time.Since(begun)
	runtime.ReadMemStats(&after)
	peak := after.Sys - before.Sys
	debug.FreeOSMemory()
	runtime.ReadMemStats(&after)
	var took []time.Duration
	for _, task := range tasks {
		for _, q := range task.Queries {
			begun := time.Now()
			x.Answer(q.Server+". "+q.Tool, find.Options{Detail: find.Signatures})
			took = append(took, time.Since(begun))
		}
	}
	slices.Sort(took)
	fmt.Fprintln(w, "\ntools\tindex\tanswer, median\tanswer, p99\theap\tfrom the system")
	fmt.Fprintf(w, "%d\t%.1f ms\t%.3f ms\t%.3f ms\t%.1f MB\t%.1f MB\n", tools, built.Seconds()*1e3,
		took[len(took)/2].Seconds()*1e3, took[len(took)*99/100].Seconds()*1e3, (float64(after.HeapAlloc)-float64(before.HeapAlloc))/1e6, float64(peak)/1e6)
	runtime.KeepAlive(x)
}
