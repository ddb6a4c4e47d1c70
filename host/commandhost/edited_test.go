package commandhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A host that is closed makes no server, which nobody would close.
func TestClosed(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"workflow.yaml": "name: Mine\ndescription: Mine\n",
		"commands/first.yaml": "description: First\neffect: read\nprocess: {argv: [echo, hello]}\n"})
	h := newHost(t, `{"toolboxes": {"mine": {"mcpServers": {"desk": {"builtin": "commands", "commands": "`+filepath.ToSlash(dir)+`"}}}}}`, noTools{}, zerolog.Nop(), nil)
	h.Close()
	if got, err := h.Get(t.Context(), filepath.ToSlash(dir)); got != nil || err == nil || !strings.Contains(err.Error(), "workbench ends") {
		t.Errorf("got %v, %v, want an error", got, err)
	}
}

// A folder that is edited is served anew, also to sessions that are under way; a broken edit changes nothing and is
// said.
func TestEditedFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mine")
	write := func(file, text string) { t.Helper(); writeFiles(t, dir, map[string]string{file: text}) }
	one := "description: Say %s\neffect: read\nprocess: {argv: [echo, hello]}\n"
	write("workflow.yaml", "name: Mine\ndescription: Mine\n")
	write("commands/first.yaml", fmt.Sprintf(one, "the first"))
	h := newHost(t, `{"toolboxes": {"mine": {"mcpServers": {"desk": {"builtin": "commands", "commands": "`+filepath.ToSlash(dir)+`"}}}}}`, noTools{}, zerolog.Nop(), nil)
	d := &desktop{t: t, host: h, box: "mine"}
	d.begin()
	write("commands/second.yaml", fmt.Sprintf(one, "the second"))
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		status, commands := d.send("GET", "/commands?session_id="+d.session, "")
		if status != 200 || !strings.Contains(commands, "Say the first") {
			t.Fatalf("got %d %s", status, commands)
		}
		if strings.Contains(commands, "Say the second") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the edit is not seen: %s", commands)
		}
	}

	var log bytes.Buffer
	logged := newHost(t, `{"toolboxes": {}}`, noTools{}, zerolog.New(&log), nil)
	load := func(ctx context.Context) (*command.Workflow, error) {
		return logged.opts.folder(ctx, logged.config(), dir)
	}
	e := &editedFolder{load: load, log: zerolog.New(&log), dir: dir, name: "Mine", print: footprint(dir)}
	for _, step := range []struct {
		name, file, text string
		served           bool
		logged           string
	}{
		{name: "nothing"},
		{"an edit", "commands/first.yaml", fmt.Sprintf(one, "it better"), true, "edited commands are served"},
		{"a broken edit", "commands/first.yaml", "description: [\n", false, "edited commands cannot be served"},
		{name: "nothing more"},
		{"another name", "workflow.yaml", "name: Yours\ndescription: Mine\n", false, "commands/first.yaml"},
		{"a mended edit", "commands/first.yaml", fmt.Sprintf(one, "it well"), false, "its name is"},
		{"the name again", "workflow.yaml", "name: Mine\ndescription: Mine, again\n", true, "edited commands are served"},
		{"another file", "tests/first.yaml", "turns: []\n", false, ""},
		{"a folder that is not there", "workflow.yaml", "name: Mine\ndescription: Mine\nextends: ../base\n", false, "../base: "},
		{"the folder", "../base/workflow.yaml", "name: Base\ndescription: Base\n", true, "edited commands are served"},
		{"an edit there", "../base/commands/third.yaml", fmt.Sprintf(one, "the third"), true, "edited commands are served"},
		{"a broken edit there", "../base/commands/third.yaml", "description: [\n", false, "../base/commands/third.yaml:1:1"},
	} {
		log.Reset()
		if step.file != "" {
			write(step.file, step.text)
		}
		e.at = time.Time{}
		got := e.engine(t.Context())
		if (got != nil) != step.served || !strings.Contains(log.String(), step.logged) || step.logged == "" && log.Len() > 0 {
			t.Errorf("%s: got an engine %v and the log %q, want %v and %q", step.name, got != nil, log.String(), step.served, step.logged)
		}
	}
}

// An edit that could not be read is served once it can be, though nothing says that it has changed since.
func TestEditIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"workflow.yaml": "name: Mine\ndescription: Mine\n"})
	fault := errors.New("too many open files")
	e := &editedFolder{log: zerolog.Nop(), dir: dir, name: "Mine", load: func(context.Context) (*command.Workflow, error) {
		if fault != nil {
			return nil, fault
		}
		return readFolder(dir)
	}}
	if e.engine(t.Context()) != nil {
		t.Error("got what could not be read")
	}
	fault, e.at = nil, time.Time{}
	if e.engine(t.Context()) == nil {
		t.Error("what can be read is not served")
	}
}

// A link out of the folder that holds a workflow's is not followed to one that it would extend; one within is.
func TestExtendedLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a right there")
	}
	outside, dir := t.TempDir(), t.TempDir()
	writeFiles(t, outside, map[string]string{"workflow.yaml": "name: Secret\ndescription: d\n", "commands/secret.yaml": "description: s\neffect: read\nprocess: {argv: [x]}\n"})
	writeFiles(t, dir, map[string]string{
		"desk/workflow.yaml":      "name: Desk\ndescription: d\nextends: ../base\n",
		"common/workflow.yaml":    "name: Common\ndescription: d\n",
		"common/commands/do.yaml": "description: d\neffect: read\nprocess: {argv: [\"${WORKFLOW_DIR}/do\"]}\n",
	})
	base := filepath.Join(dir, "base")
	for _, tt := range []struct {
		to, want string
		fails    bool
	}{
		{outside, "workflow.yaml:3:10: /extends: ../base: ", true},
		{"../../", "workflow.yaml:3:10: /extends: ../base: ", true},
		{"nowhere", "workflow.yaml:3:10: /extends: ../base: ", true},
		{"desk/workflow.yaml", "workflow.yaml:3:10: /extends: ../base: ", true},
		{"desk", "../base/workflow.yaml:3:10: /extends: the folder extends itself", true},
		{"common", "", false},
	} {
		_ = os.Remove(base)
		if err := os.Symlink(tt.to, base); err != nil {
			t.Fatal(err)
		}
		w, err := readFolder(filepath.Join(dir, "desk"))
		if (err != nil) != tt.fails || err != nil && !strings.Contains(err.Error(), tt.want) || err == nil && w.Command("do") == nil {
			t.Errorf("a link to %s: got %+v, %v, want %q", tt.to, w, err, tt.want)
		}
	}
	// What is served by a link has the folders beside its own.
	link := filepath.Join(outside, "desk")
	if err := os.Symlink(filepath.Join(dir, "desk"), link); err != nil {
		t.Fatal(err)
	}
	if w, err := readFolder(link); err != nil || w.Command("do") == nil {
		t.Errorf("got %+v, %v, want the folder that the link leads to with what is beside it", w, err)
	}
}
