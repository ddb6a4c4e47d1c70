package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// shop is a workflow of twelve steps, with a loop and a step that a person has to agree to.
const shop = `id: tidy-shop
name: Tidy the shop
description: Tidies the shop, shelf by shelf.
version: 1.0.0
steps:
  - {id: look, title: Look around, prompt: "Look around, and set 'shelves' to the list of shelves."}
  - {id: plan, title: Plan, prompt: Say what is to be done.}
  - id: each-shelf
    type: loop
    title: Each shelf
    loop: {type: forEach, items: shelves, itemVar: shelf, maxIterations: 9}
    body:
      - {id: empty-shelf, title: Empty it, prompt: "Empty the shelf {{shelf}}."}
      - id: fill-shelf
        title: Fill it
        prompt: "Fill the shelf {{shelf}} again."
        validationCriteria: [{type: contains, value: full, message: Say that it is full}]
  - {id: throw-away, title: Throw the rest away, prompt: Throw away what is left., requireConfirmation: true}
  - {id: sweep, title: Sweep, prompt: Sweep the floor.}
  - {id: lock-up, title: Lock up, prompt: Lock the door.}
  - {id: report, title: Report, prompt: Say what has changed.}
`

// A walker is a model that starts the workflow in one chat, or finds the run by words in another, and does what it is
// told.
type walker struct {
	words string // to find the run by; "" to start one
	kill  int    // ends everything before this call; 0 for never
	ends  func() // everything

	calls int
	told  []string // what the calls brought
	run   string
}

func (w *walker) next(t turn) []use {
	if w.calls > 0 {
		text, ok := t.results[fmt.Sprintf("call_%d", w.calls)]
		if !ok {
			return nil // not ours to answer
		}
		text = strings.ReplaceAll(text, `\"`, `"`) // Some agents show the model the structured content alone.
		w.told = append(w.told, text)
		if strings.Contains(text, "Workflow complete") || strings.Contains(text, "waits for a person") {
			return nil
		}
	}
	one := offered(t, "workbench_use_tool")
	if one.name == "" {
		for _, name := range t.hidden {
			if _, searched := t.results["search"]; !searched && strings.HasSuffix(name, "workbench_use_tool") {
				return []use{t.search("search", []string{name})}
			}
		}
		return nil
	}
	w.calls++
	if w.calls == w.kill {
		w.ends()
		return nil
	}
	tool, arguments := "workflow_next", object{}
	at := regexp.MustCompile(`"run":"(run-[a-z0-9]{10})","step":"([a-z0-9#-]+)"`)
	switch {
	case w.calls == 1 && w.words == "":
		tool, arguments = "workflow_start", object{"workflowId": "tidy-shop", "goal": "Tidy the corner shop before the fair"}
	case w.calls == 1:
		tool, arguments = "workflow_resume", object{"query": w.words}
	default:
		text := last(w.told)
		place := at.FindStringSubmatch(text)
		if place == nil {
			return nil
		}
		w.run = place[1]
		arguments["run"], arguments["step"], arguments["output"] = place[1], place[2], fmt.Sprintf("Done by call %d.", w.calls)
		if strings.Contains(text, "is not done yet") {
			arguments["output"] = fmt.Sprintf("It is full, said call %d.", w.calls)
		}
		if place[2] == "look" {
			arguments["context"] = object{"shelves": []string{"left", "middle", "right"}}
		}
	}
	one.id = fmt.Sprintf("call_%d", w.calls)
	one.arguments = wiretest.JSON(object{"toolbox_name": "work", "tool_name": tool, "arguments": arguments})
	return []use{one}
}

// TestRunInAgents starts a run in a chat of each agent, kills agent and workbench in the middle, goes on in a new chat
// with one call that finds the run by words, has a person agree at a terminal, and finishes. The record shows all that.
func TestRunInAgents(t *testing.T) {
	b := newBed(t)
	for _, a := range agents() {
		t.Run(a.name, func(t *testing.T) {
			b := &bed{tb: t, mark: b.mark, files: t.TempDir(), node: b.node, npm: b.npm}
			if err := os.Mkdir(filepath.Join(b.files, "workflows"), 0o755); err != nil {
				t.Fatal(err)
			}
			b.write(filepath.Join(b.files, "workflows", "tidy-shop.yaml"), shop)
			config := filepath.Join(t.TempDir(), "workbench-config.json")
			b.write(config, `{"toolboxes":{"work":{"description":"Workflows","mcpServers":{"flows":{"builtin":"workflow"}}}}}`)
			home := t.TempDir()
			line := []string{wiretest.Program("workbench"), "serve", "--config", config}

			first := &walker{kill: 7, ends: func() {
				for _, p := range wiretest.Marked(b.mark) {
					if process, err := os.FindProcess(p.PID); err == nil {
						_ = process.Kill() // It may have ended with another.
					}
				}
			}}
			if out, err := b.chat(t, a, first, home, line); err == nil || first.calls != 7 {
				t.Fatalf("got the end %v after %d calls, want it killed before call 7; it was told %q and printed %s", err, first.calls, first.told, wiretest.Clip(out))
			}
			second := &walker{words: "go on with tidying the corner shop"}
			if out, err := b.chat(t, a, second, home, line); err != nil || !strings.Contains(last(second.told), "waits for a person") {
				t.Fatalf("%v: got %q, want a person to be asked; it printed %s", err, second.told, wiretest.Clip(out))
			}
			if first.run == "" || !strings.Contains(second.told[0], first.run) || !strings.Contains(second.told[0], "Done by call") {
				t.Errorf("got %q, want the run %s with what was done", second.told[0], first.run)
			}
			workbench := func(stdin string, args ...string) string {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Env = []string{b.mark, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + home, "XDG_CACHE_HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home}
				cmd.Dir, cmd.Stdin = b.files, strings.NewReader(stdin)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%q: %v: %s", args, err, out)
				}
				return string(out)
			}
			if _, err := exec.LookPath("script"); err != nil {
				t.Skipf("nobody can answer at a terminal: %v", err)
			}
			workbench("y\n", "script", "-qec", fmt.Sprintf("%s runs answer %s", line[0], first.run), os.DevNull)
			third := &walker{words: "the corner shop"}
			if out, err := b.chat(t, a, third, home, line); err != nil || !strings.Contains(last(third.told), "Workflow complete") {
				t.Fatalf("%v: got %q, want the end; it printed %s", err, third.told, wiretest.Clip(out))
			}
			shown := workbench("", line[0], "runs", "show", first.run)
			if n := len(regexp.MustCompile(`(?m)^ +\d+  \S+ \S+  done `).FindAllString(shown, -1)); n != 12 || !strings.Contains(shown, "person:terminal") || !strings.Contains(shown, "finished") {
				t.Errorf("got %d steps in %s, want 12, an answer at the terminal and the end", n, shown)
			}
			t.Logf("%s: %d, %d and %d calls\n%s", a.name, first.calls-1, second.calls, third.calls, shown)
		})
	}
}

func last(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}
