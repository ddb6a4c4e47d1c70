package conformance

import (
	"flag"
	"fmt"
	"maps"
	"testing"
)

// withoutWorkbench has the fixture tried by itself as well. What it passes then changes with the fixture and the suite
// alone.
var withoutWorkbench = flag.Bool("without-workbench", false, "try the scenarios that are not scored without workbench too, and not only through it")

// TestServer: whoever calls workbench sees a conforming server, whatever way leads to the one behind it, and whatever
// state its neighbours are in.
func TestServer(t *testing.T) {
	t.Parallel()
	s := newSuite(t)
	all := []revision{
		{name: "2025-03-26", required: 1},
		{name: "2025-06-18", required: 27},
		{name: "2025-11-25", required: 30, listed: true},
		{name: "2026-07-28", required: 37, listed: true},
	}
	beds := []struct {
		name, path string
		era        string // of the fixture
		neighbours bool
		revisions  []revision
	}{
		{name: "at /mcp", path: "/mcp", era: "both", revisions: all},
		{name: "at /mcp/suite", path: "/mcp/suite", era: "both", revisions: all},
		{name: "beside ten broken servers", path: "/mcp", era: "both", neighbours: true, revisions: all[2:]},
		{name: "modern server, legacy client", path: "/mcp", era: "modern", revisions: all[1:3]},
	}
	var table scores
	var unscored outcomes
	t.Run("beds", func(t *testing.T) {
		for _, bed := range beds {
			t.Run(bed.name, func(t *testing.T) {
				t.Parallel()
				servers := map[string]entry{"fixture": fixtureEntry(t, bed.era)}
				if bed.neighbours {
					maps.Copy(servers, neighbours())
				}
				url, runner := serve(t, writeConfig(t, servers))+bed.path, s.runner(t)
				for _, r := range bed.revisions {
					ran := runner.run(t, nil, "server", append(r.args(), "--url", url)...)
					table.judge(t, bed.name, r, s.required(t, r, "server"), ran)
					if bed.path == "/mcp" && bed.era == "both" && !bed.neighbours && r.listed {
						unscored.note(through, r, s.unscored(t, r, "server"), ran)
					}
				}
			})
		}
		t.Run("not scored", func(t *testing.T) {
			t.Parallel()
			gateway := serve(t, writeConfig(t, map[string]entry{"fixture": fixtureEntry(t, "both")})) + "/mcp"
			runner := s.runner(t)
			try := func(column int, url string, r revision, names []string) {
				for _, name := range names {
					ran := runner.run(t, nil, "server", "--scenario", name, "--spec-version", r.name, "--force", "--url", url)
					unscored.note(column, r, names, ran)
				}
			}
			try(through, gateway, all[3], skillScenarios())
			if !*withoutWorkbench {
				unscored.recall(t)
				return
			}
			url := directly(t)
			for _, r := range all[2:] {
				try(unaided, url, r, s.unscored(t, r, "server"))
			}
			try(unaided, url, all[3], skillScenarios())
		})
	})
	unscored.check(t)
	t.Logf("scenarios of servers that passed:\n%s", table.String())
}

// neighbours are five servers that never say a word and five that end at once. Each session of the suite has servers of
// its own and waits for them to be ready or not; what never will be is given up soon, so that all sessions take no
// minute.
func neighbours() map[string]entry {
	servers := make(map[string]entry)
	for i := range 5 {
		servers[fmt.Sprintf("hung%d", i)] = entry{"command": "sh", "args": []string{"-c", "cat >/dev/null"}, "timeouts": entry{"start": "100ms"}}
		servers[fmt.Sprintf("gone%d", i)] = entry{"command": "false"}
	}
	return servers
}
