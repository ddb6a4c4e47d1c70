package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/config"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func ExampleParse() {
	cfg, err := config.Parse("workbench-config.json", []byte(`{
		"toolboxes": {
			"code": {
				"description": "Repositories and reviews",
				"mcpServers": {
					"git": {"command": "git-mcp", "args": ["--repo", "${REPO:-.}"]},
					"reviews": {"url": "https://reviews.example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
				}
			}
		}
	}`), func(string) (string, bool) { return "", false })
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range cfg.Toolboxes[0].Servers {
		fmt.Println(s.Name, s.Transport, s.Args)
	}
	fmt.Println(errors.Join(cfg.Problems()...))
	// Output:
	// git stdio [--repo .]
	// reviews http []
	// workbench-config.json:7:89: toolboxes.code.mcpServers.reviews.headers.Authorization: want a value for variable TOKEN, got none (set it, or write ${TOKEN:-default})
}

// canary is in every secret of the test data. It must not come up in an error.
const canary = "canary"

// environment is what the test data may refer to.
func environment(name string) (string, bool) {
	value, ok := map[string]string{
		"HOME":      "/home/me",
		"EMPTY":     "",
		"TOKEN":     canary,
		"NESTED":    "${HOME}",
		"TRANSPORT": "sse",
		"LINES":     canary + "\nX-Other: 1",
		"WEIRD":     canary + "://x",
		"LONG":      strings.Repeat("0123456789abcdef", 1<<10), // 16 KiB
	}[name]
	return value, ok
}

// TestFaultD2D3D4D6D7_Files parses the file of each archive and compares the error with its want section.
func TestFaultD2D3D4D6D7_Files(t *testing.T) {
	golden(t, "testdata/faults", func(t *testing.T, name string, data []byte) string {
		_, err := config.Parse(name, data, environment)
		var faults *config.Error
		if !errors.As(err, &faults) {
			t.Fatalf("got error %v of type %T, want a *config.Error", err, err)
		}
		if !slices.IsSortedFunc(faults.Faults, func(a, b config.Fault) int {
			return 1000*(a.Line-b.Line) + a.Column - b.Column
		}) {
			t.Errorf("got faults out of the order of the file:\n%v", err)
		}
		return err.Error() + "\n"
	})
}

// TestAccepted parses the file of each archive and compares the result, written as a file again, with its want section.
func TestAccepted(t *testing.T) {
	golden(t, "testdata/accepted", func(t *testing.T, name string, data []byte) string {
		cfg, err := config.Parse(name, data, environment)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		out.Write(encode(t, cfg))
		problems := cfg.Problems()
		if cfg.Models.Problem != nil {
			problems = append(problems, cfg.Models.Problem)
		}
		for _, p := range problems {
			if strings.Contains(p.Error(), canary) {
				t.Errorf("got a secret in the problem: %v", p)
			}
			fmt.Fprintln(&out, p)
		}
		return out.String()
	})
}

// golden runs got on the first file of every archive in dir. The archive's comment says what it guards.
func golden(t *testing.T, dir string, got func(t *testing.T, name string, data []byte) string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %d archives in %s and error %v, want some", len(paths), dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) != 2 || archive.Files[1].Name != "want" {
				t.Fatal("want two files in the archive, the second called want")
			}
			got := got(t, "/etc/wb/"+archive.Files[0].Name, archive.Files[0].Data)
			got = strings.ReplaceAll(got, "/etc/wb/"+archive.Files[0].Name, archive.Files[0].Name)
			if strings.Contains(got, canary) && dir == "testdata/faults" {
				t.Errorf("got a secret in the error:\n%s", got)
			}
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(archive.Files[1].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// encode writes cfg as a file that Parse reads to the same Config, but for servers with a Problem, which it leaves out.
func encode(t *testing.T, cfg *config.Config) []byte {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(fileOf(cfg)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fileOf turns cfg into the values of a file.
func fileOf(cfg *config.Config) any {
	toolboxes := ordered{}
	for _, t := range cfg.Toolboxes {
		servers := ordered{}
		for _, s := range t.Servers {
			if s.Problem == nil {
				servers = append(servers, entry{s.Name, serverFile(s)})
			}
		}
		box := ordered{{"description", escape(t.Description.String())}, {"open", t.Open}, {"prefix", string(t.Prefix)}}
		if t.Pins != "" {
			box = append(box, entry{"pins", string(t.Pins)})
		}
		toolboxes = append(toolboxes, entry{t.Name, append(box, entry{"mcpServers", servers})})
	}
	file := ordered{{"toolMode", string(cfg.ToolMode)}, {"openTimeout", cfg.OpenTimeout.String()},
		{"openBudget", cfg.OpenBudget}, {"maxMessage", cfg.MaxMessage}}
	if cfg.EnvFile != nil {
		file = append(file, entry{"envFile", escapeAll(cfg.EnvFile)})
	}
	if len(cfg.Secrets) > 0 {
		sources := ordered{}
		for _, name := range slices.Sorted(maps.Keys(cfg.Secrets)) {
			sources = append(sources, entry{name, ordered{{"command", escapeAll(cfg.Secrets[name].Command)}}})
		}
		file = append(file, entry{"secrets", sources})
	}
	if cfg.CodeMode {
		file = append(file, entry{"codeMode", true})
	}
	record := ordered{{"mode", cfg.Record.Mode}}
	if cfg.Record.Dir != "" {
		record = append(record, entry{"dir", escape(cfg.Record.Dir)}, entry{"maxSize", cfg.Record.MaxSize})
	}
	if cfg.Record.MaxAge != 0 {
		record = append(record, entry{"maxAge", cfg.Record.MaxAge.String()})
	}
	if cfg.Record != (config.Record{Mode: config.RecordMeta, MaxSize: config.DefaultRecordSize}) {
		file = append(file, entry{"record", record})
	}
	var kept ordered
	switch {
	case cfg.Store.Path != "":
		kept = append(kept, entry{"path", escape(cfg.Store.Path)})
	case cfg.Store.DSN != "":
		kept = append(kept, entry{"dsn", escape(cfg.Store.DSN)})
	}
	if cfg.Store.KeepFor != 0 {
		kept = append(kept, entry{"keepFor", cfg.Store.KeepFor.String()})
	}
	if cfg.Store.ExpireRuns != 0 {
		kept = append(kept, entry{"expireRuns", cfg.Store.ExpireRuns.String()})
	}
	if kept != nil {
		file = append(file, entry{"store", kept})
	}
	if cfg.Models.BaseURL != "" && cfg.Models.Problem == nil {
		file = append(file, entry{"models", modelsFile(cfg.Models)})
	}
	over := ordered{}
	if cfg.HTTP.CallsPerMinute != 0 {
		over = append(over, entry{"callsPerMinute", cfg.HTTP.CallsPerMinute})
	}
	if j := cfg.HTTP.JWT; j.Issuer != "" {
		keys := entry{"jwksUrl", escape(j.JWKSURL)}
		if j.KeyFile != "" {
			keys = entry{"keyFile", escape(j.KeyFile)}
		}
		over = append(over, entry{"jwt", ordered{
			{"issuer", escape(j.Issuer)}, {"audience", escape(j.Audience)}, keys, {"algorithms", j.Algorithms}}})
	}
	if len(over) > 0 {
		file = append(file, entry{"http", over})
	}
	if cfg.Pinned != nil {
		var pins []string
		for _, p := range cfg.Pinned {
			pins = append(pins, escape(p.String()))
		}
		file = append(file, entry{"pin", pins})
	}
	return append(file, entry{"toolboxes", toolboxes})
}

func modelsFile(m config.Models) ordered {
	file := ordered{}
	for _, e := range []struct{ key, value string }{{"baseUrl", m.BaseURL}, {"apiKey", m.APIKey}, {"default", m.Default}, {"planner", m.Planner},
		{"agent", m.Agent}, {"assistant", m.Assistant}, {"summary", m.Summary}, {"embeddings", m.Embeddings}} {
		if e.value != "" {
			file = append(file, entry{e.key, escape(e.value)})
		}
	}
	return append(file, entry{"replyTimeout", m.ReplyTimeout.String()}, entry{"maxTokens", m.MaxTokens})
}

func serverFile(s config.Server) ordered {
	file := ordered{{"transport", string(s.Transport)}}
	text := func(key, value string) {
		if value != "" {
			file = append(file, entry{key, escape(value)})
		}
	}
	list := func(key string, values []string) {
		if values != nil {
			file = append(file, entry{key, escapeAll(values)})
		}
	}
	table := func(key string, values map[string]string) {
		if values != nil {
			escaped := map[string]string{}
			for k, v := range values {
				escaped[k] = escape(v)
			}
			file = append(file, entry{key, escaped})
		}
	}
	text("command", s.Command)
	list("args", s.Args)
	table("env", s.Env)
	list("envFile", s.EnvFile)
	if s.InheritEnv.All {
		file = append(file, entry{"inheritEnv", true})
	}
	list("inheritEnv", s.InheritEnv.Names)
	text("cwd", s.Cwd)
	if b := s.Sandbox; b.Preset != "" {
		var network any = b.Network.All
		if b.Network.To != nil {
			network = b.Network.To
		}
		box := ordered{{"preset", string(b.Preset)}, {"network", network}, {"bestEffort", b.BestEffort}}
		if b.Read != nil {
			box = append(box, entry{"read", escapeAll(b.Read)})
		}
		if b.Write != nil {
			box = append(box, entry{"write", escapeAll(b.Write)})
		}
		file = append(file, entry{"sandbox", box})
	}
	text("url", s.URL)
	table("headers", s.Headers)
	if a := s.OAuth; !reflect.DeepEqual(a, config.OAuth{}) {
		file = append(file, entry{"oauth", oauthKeys(a)})
	}
	text("builtin", s.Builtin)
	text("commands", s.Commands)
	list("workflows", s.Workflows)
	text("conditions", s.Conditions)
	list("toolFilters", s.ToolFilters)
	if s.Tools != nil {
		file = append(file, entry{"tools", toolsFile(s.Tools)})
	}
	if s.Disabled {
		file = append(file, entry{"disabled", true})
	}
	if s.Shared {
		file = append(file, entry{"shared", true})
	}
	switch s.IdleTimeout {
	case 0:
	case config.NeverIdle:
		file = append(file, entry{"idleTimeout", false})
	default:
		file = append(file, entry{"idleTimeout", s.IdleTimeout.String()})
	}
	if s.MaxInFlight != 0 {
		file = append(file, entry{"maxInFlight", s.MaxInFlight})
	}
	if l := s.LargeResults; l != (config.LargeResults{}) {
		var keys ordered
		if l.Over != 0 {
			keys = append(keys, entry{"over", l.Over})
		}
		for _, text := range []struct{ key, value string }{{"do", l.Do}, {"images", l.Images}} {
			if text.value != "" {
				keys = append(keys, entry{text.key, text.value})
			}
		}
		file = append(file, entry{"largeResults", keys})
	}
	return append(file, entry{"timeouts", ordered{
		{"start", s.Timeouts.Start.String()},
		{"callIdle", s.Timeouts.CallIdle.String()},
		{"callTotal", s.Timeouts.CallTotal.String()}}})
}

func toolsFile(tools []config.Tool) (file ordered) {
	for _, tool := range tools {
		one := ordered{}
		for _, e := range []struct{ key, value string }{{"rename", tool.Rename}, {"describe", tool.Describe}} {
			if e.value != "" {
				one = append(one, entry{e.key, escape(e.value)})
			}
		}
		if tool.Defaults != nil {
			defaults := ordered{}
			for _, d := range tool.Defaults {
				defaults = append(defaults, entry{d.Name, json.RawMessage(escape(string(d.Value)))})
			}
			one = append(one, entry{"defaults", defaults})
		}
		if tool.Hide != nil {
			one = append(one, entry{"hide", escapeAll(tool.Hide)})
		}
		file = append(file, entry{tool.Name, one})
	}
	return file
}

func escape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "${", "$${"), "\x00$${secret:", "${secret:")
}

func escapeAll(values []string) []string {
	escaped := make([]string, len(values))
	for i, v := range values {
		escaped[i] = escape(v)
	}
	return escaped
}

// ordered is an object whose keys keep their order.
type ordered []entry

type entry struct {
	key   string
	value any
}

func (o ordered) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	out.WriteByte('{')
	for i, member := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := e.Encode(member.key); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := e.Encode(member.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
