package find_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/find"
)

// small are servers as they are found in one configuration.
func small() []find.Server {
	schema := func(s string) json.RawMessage { return json.RawMessage(s) }
	return []find.Server{
		{Toolbox: "dev", Name: "github", Description: "Repositories, issues and pull requests.", Entries: []find.Entry{
			{Name: "create_issue", Description: "Open a new issue in a repository.", Schema: schema(`{"properties":{"title":{"type":"string"},"body":{"type":"string"}},"required":["title"]}`)},
			{Name: "listPullRequests", Description: "List what waits for a review."},
			{Name: "merge", Description: "Merge a branch.", Schema: schema(`{"properties":{"commit_sha":{"type":"string","description":"digest of the head"}}}`)},
		}},
		{Toolbox: "dev", Name: "files", Entries: []find.Entry{
			{Name: "read_file", Description: "Read a file from the disk."},
			{Name: "search_files", Description: "Search for files by a pattern."},
		}},
		{Toolbox: "world", Name: "bazi", Description: "八字计算服务", Entries: []find.Entry{{Name: "getChart", Description: "根据生日计算八字"}}},
		{Toolbox: "world", Name: "weather", Description: "Forecasts for every city"},
		{Toolbox: "world", Name: "mail", Entries: []find.Entry{{Name: "send_email", Description: "Send a message by SMTP."}}},
		{Toolbox: "world", Name: "guides", Entries: []find.Entry{
			{Kind: "skill", Name: "knitting", Description: "How socks are knit.", URI: "skill://knitting/SKILL.md"},
			{Kind: "skill", Name: "odd", Description: "Knobs of looms.", URI: "skill://odd\u202e/SKILL.md"},
		}},
	}
}

func ready(int) string { return "ready" }

func TestSearch(t *testing.T) {
	servers := small()
	x := find.New(slices.Values(servers))
	for _, c := range []struct{ name, query, want string }{
		{"the name", "create_issue", "github/create_issue"},
		{"other endings", "creating issues", "github/create_issue"},
		{"capital letters in a name", "pull requests", "github/listPullRequests"},
		{"a word of the same meaning", "open a ticket", "github/create_issue"},
		{"a misspelt word", "reposotory isues", "github/create_issue"},
		{"a parameter", "commit sha", "github/merge"},
		{"a parameter's description", "digest of the head", "github/merge"},
		{"writing without spaces", "算八字", "bazi/getChart"},
		{"a server that was never seen", "weather forecast", "weather/"},
		{"an e-mail", "mail somebody", "mail/send_email"},
		{"one wish of several", "list a message of the team. search files by pattern, then send", "files/search_files"},
		{"clauses without spaces", "合并分支。计算八字，请", "bazi/getChart"},
		{"nothing near", "zzzz qqqq", ""},
		{"common words alone", "what is the", ""},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if hits := x.Search(c.query); len(hits) > 0 {
				s := servers[hits[0].Server]
				got = s.Name + "/"
				if e := hits[0].Entry; e >= 0 {
					got += s.Entries[e].Name
				}
			}
			if got != c.want {
				t.Errorf("%q: got %q first, want %q", c.query, got, c.want)
			}
		})
	}
}

func TestWhy(t *testing.T) {
	x := find.New(slices.Values(small()))
	for query, want := range map[string][]string{
		"open tickets":                       {"open→open in description", "ticket→issu in name+description+server's description"},
		"Some repository. Open tickets, now": {"open→open in description, best", "repository→repository in description+server's description", "ticket→issu in name+description+server's description, best"},
	} {
		i := slices.IndexFunc(x.Search(query), func(h find.Hit) bool { return h.Server == 0 && h.Entry == 0 })
		hit := x.Search(query)[i]
		var got []string
		sum := 0.0
		for _, w := range x.Why(query, hit) {
			line := fmt.Sprintf("%s→%s in %s", w.Query, w.Found, strings.Join(w.Fields, "+"))
			if w.Best {
				line += ", best"
			}
			got = append(got, line)
			sum += w.Score
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
		if sum <= 0 || sum > hit.Score {
			t.Errorf("%s: the words add %.2f to a score of %.2f", query, sum, hit.Score)
		}
	}
}

func TestAnswer(t *testing.T) {
	x := find.New(slices.Values(small()))
	for _, c := range []struct {
		name, query   string
		detail        find.Detail
		budget, limit int
		want          string
	}{
		{"names", "pull request issue", find.Names, 0, 0, "dev/github (ready) – Repositories, issues and pull requests: listPullRequests, create_issue, merge\n"},
		{"signatures", "create an issue", find.Signatures, 0, 1,
			"dev/github (ready) – Repositories, issues and pull requests\n" +
				"  create_issue(title: string, body?: string) – Open a new issue in a repository\n"},
		{"schemas", "create an issue", find.Schemas, 0, 1,
			"dev/github (ready) – Repositories, issues and pull requests\n" +
				`  create_issue {"properties":{"title":{"type":"string"},"body":{"type":"string"}},"required":["title"]} – Open a new issue in a repository` + "\n"},
		{"a server that was never seen", "weather", find.Signatures, 0, 0, "world/weather (ready) – Forecasts for every city: its tools are not known until it has been opened once\n"},
		{"a skill", "knit socks", find.Signatures, 0, 1, "world/guides (ready)\n  knitting (skill) skill://knitting/SKILL.md – How socks are knit\n"},
		{"a skill whose uri cannot be shown", "looms", find.Schemas, 0, 1, "world/guides (ready)\n  odd (skill) – Knobs of looms\n"},
		{"a small budget", "pull request issue", find.Signatures, 25, 0, "dev/github (ready) – Repositories, issues and pull requests: listPullRequests, create_issue\n"},
		{"nothing", "zzzz", find.Signatures, 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := x.Answer(c.query, find.Options{Detail: c.detail, Budget: c.budget, Limit: c.limit, State: ready}).Text; got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// FuzzAnswer: whatever servers say and somebody asks, an answer is one of plain lines, within its budget, and the same
// each time.
func FuzzAnswer(f *testing.F) {
	f.Add("create issue", "create_issue", "Open a new\nissue", `{"properties":{"a":{"description":"x"}}}`, 100)
	f.Add("issue", "issue", "x", "{\"properties\":{\"a\u202e\":{\"description\":\"\u200b\"}}}", 500)
	f.Add("\x1b[31m", "\u202e\u200b", "八字\x00", `{"properties":{`, 1)
	f.Add(strings.Repeat("query ", 500), strings.Repeat("n", 5000), strings.Repeat("d ", 9000), `[]`, 50)
	f.Fuzz(func(t *testing.T, query, name, text, schema string, budget int) {
		if !json.Valid([]byte(schema)) || !utf8.ValidString(schema) { // of which a message has none
			schema = `{}`
		}
		budget = min(max(budget, 1), 2000)
		servers := []find.Server{
			{Toolbox: "a", Name: "b", Description: text, Entries: []find.Entry{{Name: name, Description: text, Schema: json.RawMessage(schema), Output: json.RawMessage(schema)}, {Name: text}, {Kind: "skill", Name: name, URI: text}}},
			{Toolbox: "c", Name: "d", Description: name},
		}
		for _, d := range []find.Detail{find.Names, find.Signatures, find.Schemas} {
			o := find.Options{Detail: d, Budget: budget, Stubs: budget%2 == 0}
			if budget%3 == 0 {
				o.Votes = []float32{0, .5, 1, 1}
			}
			x := find.New(slices.Values(servers))
			for _, text := range x.Texts() {
				if len(text) > 1024 || !utf8.ValidString(text) {
					t.Errorf("got %d bytes %.200q for who votes", len(text), text)
				}
			}
			got := x.Answer(query, o)
			if again := find.New(slices.Values(servers)).Answer(query, o); !reflect.DeepEqual(got, again) {
				t.Fatalf("got %q and then %q", got.Text, again.Text)
			}
			if most := 4*budget + 80; len(got.Text) > most { // what is said of servers that were never seen
				t.Errorf("got %d bytes, want %d at most", len(got.Text), most)
			}
			if !utf8.ValidString(got.Text) || strings.ContainsAny(got.Text, "\x00\x1b\u202e\u200b") {
				t.Errorf("got %q, want clean text", got.Text)
			}
		}
	})
}

// shared has real servers and the queries that a real model wrote while it worked on tasks.
const shared = "../../../shared/find/"

type task struct {
	Needed  []string
	Queries []struct{ Server, Tool string }
}

func read(t testing.TB, name string, to any) {
	t.Helper()
	raw, err := os.ReadFile(shared + name)
	if os.IsNotExist(err) {
		t.Skipf("%s is not there", shared)
	}
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func corpus(t testing.TB) []find.Server {
	var raw []struct {
		Server, Title, Description string
		Tools                      []struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
	}
	read(t, "tools.json", &raw)
	var servers []find.Server
	for _, r := range raw {
		s := find.Server{Toolbox: "web", Name: r.Server, Title: r.Title, Description: r.Description}
		for _, tool := range r.Tools {
			s.Entries = append(s.Entries, find.Entry{Name: tool.Name, Description: tool.Description, Schema: tool.InputSchema})
		}
		servers = append(servers, s)
	}
	return servers
}

// Of the tools that people found necessary for a task, so many stand in the answers to what a model asked for.
func TestCoverage(t *testing.T) {
	servers := corpus(t)
	var tasks []task
	read(t, "queries.json", &tasks)
	x := find.New(slices.Values(servers))
	for _, c := range []struct {
		detail find.Detail
		budget int
		want   float64
	}{
		{find.Names, 220, .74}, {find.Names, 500, .80}, {find.Names, 1200, .85},
		{find.Signatures, 500, .80}, {find.Signatures, 1200, .85},
	} {
		t.Run(fmt.Sprint(c.detail, c.budget), func(t *testing.T) {
			t.Parallel()
			sum, bytes, answers := 0.0, 0, 0
			for _, task := range tasks {
				seen := make(map[string]bool)
				for _, q := range task.Queries {
					a := x.Answer(q.Server+". "+q.Tool, find.Options{Detail: c.detail, Budget: c.budget, State: ready})
					for _, g := range a.Groups {
						for _, e := range g.Entries {
							seen[servers[g.Server].Entries[e].Name] = true
						}
					}
					bytes += len(a.Text)
					answers++
				}
				found := 0
				for _, name := range task.Needed {
					if seen[name] {
						found++
					}
				}
				sum += float64(found) / float64(len(task.Needed))
			}
			got, tokens := sum/float64(len(tasks)), float64(bytes)/4/float64(answers)
			t.Logf("coverage %.3f at %.0f tokens", got, tokens)
			if got < c.want || tokens > float64(c.budget) {
				t.Errorf("got coverage %.3f at %.0f tokens, want %.2f at %d", got, tokens, c.want, c.budget)
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	x := find.New(slices.Values(corpus(b)))
	for b.Loop() {
		x.Search("PDF generation or document creation. create PDF report with text content and word cloud visualization")
	}
}

func BenchmarkNew(b *testing.B) {
	servers := corpus(b)
	for b.Loop() {
		find.New(slices.Values(servers))
	}
}

func BenchmarkShared(b *testing.B) {
	servers, shared := slices.Values(corpus(b)), new(find.Shared)
	first := shared.Of(servers)
	b.ReportAllocs()
	for b.Loop() {
		if shared.Of(servers) != first {
			b.Fatal("equal lists have several indexes")
		}
	}
}
