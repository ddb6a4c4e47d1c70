package servers

import (
	"path/filepath"
	"slices"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// server is one server of the fleet.
type server struct {
	toolbox, name string
	file          string            // its program, in node_modules
	args          []string          // of the program
	env           map[string]string // made-up keys, and addresses where nobody answers
	calls         []call            // what it is asked: something harmless, and something wrong
	oddity        string            // what it is here for; it must be among what is observed
}

// call is one tool call.
type call struct{ tool, arguments string }

// nobody is an address at which nothing listens.
const nobody = "127.0.0.1:1"

// fleet are the servers in the order of the configuration.
func (b *bed) fleet() []server {
	return slices.Concat(b.reference(), b.browsers(), b.code(), b.others(), b.extended())
}

// extended are servers with extensions: apps, of which two have one uri for their pages, and skills, of which two have
// one uri too. The servers of skills are made of the official SDK.
func (b *bed) extended() []server {
	app := func(name string, calls ...call) server {
		return server{toolbox: "apps", name: name, file: "@modelcontextprotocol/server-" + name + "/dist/index.js", args: []string{"--stdio"}, calls: calls}
	}
	skills := func(name string) server {
		return server{
			toolbox: "skills", name: name, file: "../skills.mjs", args: []string{name}, calls: []call{{"echo", `{"text":"hi"}`}, {"echo", `{}`}},
			oddity: "speaks 2026-07-28 too",
		}
	}
	return []server{
		app("basic-react"), app("basic-vanillajs"), app("budget-allocator", call{"get-budget-data", `{}`}),
		app("scenario-modeler", call{"get-scenario-data", `{}`}, call{"get-scenario-data", `{"customInputs":7}`}),
		app("sheet-music", call{"play-sheet-music", `{"abcNotation":7}`}), app("cohort-heatmap", call{"get-cohort-data", `{"metric":"none"}`}),
		skills("one"), skills("two"),
	}
}

// reference are the servers of the protocol's own project, those it has retired included.
func (b *bed) reference() []server {
	return []server{
		{
			toolbox: "reference", name: "everything", file: "@modelcontextprotocol/server-everything/dist/index.js", args: []string{"stdio"},
			calls:  []call{{"echo", `{"message":"hi"}`}, {"echo", `{}`}, {"get-sum", `{"a":9007199254740993,"b":0.1}`}},
			oddity: "17 tools for this client, 13 for one that can nothing",
		},
		{
			toolbox: "reference", name: "filesystem", file: "@modelcontextprotocol/server-filesystem/dist/index.js", args: []string{b.files},
			calls:  []call{{"read_text_file", `{"path":` + wiretest.JSON(filepath.Join(b.files, "a.txt")) + `}`}, {"read_text_file", `{}`}},
			oddity: "asks roots/list",
		},
		{
			toolbox: "reference", name: "memory", file: "@modelcontextprotocol/server-memory/dist/index.js",
			env:   map[string]string{"MEMORY_FILE_PATH": filepath.Join(b.files, "memory.jsonl")},
			calls: []call{{"read_graph", `{}`}, {"create_entities", `{}`}},
		},
		{
			toolbox: "reference", name: "sequential-thinking", file: "@modelcontextprotocol/server-sequential-thinking/dist/index.js",
			calls: []call{{"sequentialthinking", `{}`}},
		},
		{
			toolbox: "retired", name: "github", file: "@modelcontextprotocol/server-github/dist/index.js",
			env:    map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "none"},
			calls:  []call{{"search_repositories", `{}`}, {"create_issue", `{"owner":7}`}},
			oddity: "speaks 2024-11-05",
		},
		{
			toolbox: "retired", name: "puppeteer", file: "@modelcontextprotocol/server-puppeteer/dist/index.js",
			env:    map[string]string{"PUPPETEER_LAUNCH_OPTIONS": `{"executablePath":"no-such-browser"}`},
			calls:  []call{{"puppeteer_evaluate", `{"script":"1"}`}},
			oddity: "resources/templates/list -32601 despite its capabilities",
		},
		{
			toolbox: "retired", name: "postgres", file: "@modelcontextprotocol/server-postgres/dist/index.js",
			args:   []string{"postgresql://" + nobody + "/none"},
			calls:  []call{{"query", `{"sql":"select 1"}`}},
			oddity: "resources/list -32603 despite its capabilities",
		},
	}
}

// browsers are servers that start a browser when a tool needs one; here there is none.
func (b *bed) browsers() []server {
	browser := filepath.Join(b.files, "no-such-browser")
	return []server{
		{
			toolbox: "browsers", name: "playwright", file: "@playwright/mcp/cli.js", args: []string{"--executable-path", browser},
			calls:  []call{{"browser_tabs", `{"action":"list"}`}},
			oddity: "asks roots/list",
		},
		{
			toolbox: "browsers", name: "chrome-devtools", file: "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js",
			args:   []string{"--executablePath", browser},
			env:    map[string]string{"CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS": "1", "CI": "1"},
			calls:  []call{{"list_pages", `{}`}, {"navigate_page", `{"type":7}`}},
			oddity: "unknown tool -32602",
		},
		{
			toolbox: "browsers", name: "mermaid", file: "mcp-mermaid/build/index.js",
			env:    map[string]string{"PLAYWRIGHT_BROWSERS_PATH": b.files},
			calls:  []call{{"generate_mermaid_diagram", `{"mermaid":"graph TD; A-->B"}`}, {"generate_mermaid_diagram", `{}`}},
			oddity: "unknown tool -32601",
		},
		{
			toolbox: "browsers", name: "drawio", file: "drawio-mcp-server/build/index.js", args: []string{"--extension-port", b.freePort()},
			calls:  []call{{"add-rectangle", `{"x":"y"}`}},
			oddity: "resources/list -32601 despite its capabilities",
		},
	}
}

// code are servers for work on programs.
func (b *bed) code() []server {
	return []server{
		{
			toolbox: "code", name: "git", file: "@cyanheads/git-mcp-server/dist/index.js",
			calls: []call{
				{"git_status", `{"path":` + wiretest.JSON(b.files) + `}`}, {"git_wrapup_instructions", `{"acknowledgement":"yes"}`},
				{"git_status", `{"path":7}`},
			},
			oddity: "73 KB of tools",
		},
		{
			toolbox: "code", name: "eslint", file: "@eslint/mcp/src/mcp-cli.js",
			calls: []call{{"lint-files", `{"filePaths":[` + wiretest.JSON(filepath.Join(b.files, "none.js")) + `]}`}, {"lint-files", `{}`}},
		},
		{
			toolbox: "code", name: "gitlab", file: "@zereight/mcp-gitlab/build/index.js",
			env:    map[string]string{"GITLAB_PERSONAL_ACCESS_TOKEN": "none", "GITLAB_API_URL": "http://" + nobody + "/api/v4"},
			calls:  []call{{"get_project", `{"project_id":"1"}`}, {"get_project", `{}`}},
			oddity: "160 KB of tools",
		},
		{
			toolbox: "code", name: "circleci", file: "@circleci/mcp-server-circleci/dist/index.js",
			env:   map[string]string{"CIRCLECI_TOKEN": "none", "CIRCLECI_BASE_URL": "http://" + nobody},
			calls: []call{{"list_followed_projects", `{"params":{}}`}, {"get_build_failure_logs", `{}`}},
		},
		{
			toolbox: "code", name: "code-runner", file: "mcp-server-code-runner/dist/cli.js",
			calls:  []call{{"run-code", `{"code":"console.log(6*7)","languageId":"javascript"}`}, {"run-code", `{}`}},
			oddity: "noise on stdout",
		},
		{
			toolbox: "code", name: "mui", file: "@mui/mcp/stdio.js",
			calls:  []call{{"fetchDocs", `{"urls":["http://` + nobody + `/x"]}`}, {"fetchDocs", `{"urls":7}`}},
			oddity: "no exit at EOF",
		},
		{
			toolbox: "code", name: "hello world", file: "mcp-hello-world/build/stdio.js",
			calls: []call{{"echo", `{"message":"hi"}`}, {"echo", `{}`}},
		},
	}
}

// others are servers for documents and data.
func (b *bed) others() []server {
	return []server{
		{
			toolbox: "documents", name: "notion", file: "@notionhq/notion-mcp-server/bin/cli.mjs",
			env:    map[string]string{"NOTION_TOKEN": "ntn_none", "BASE_URL": "http://" + nobody},
			calls:  []call{{"API-get-self", `{}`}},
			oddity: "$ref in its schemas",
		},
		{
			toolbox: "documents", name: "context7", file: "@upstash/context7-mcp/dist/index.js",
			env:    map[string]string{"CONTEXT7_API_URL": "http://" + nobody},
			calls:  []call{{"resolve-library-id", `{"libraryName":"x","query":"y"}`}, {"resolve-library-id", `{}`}},
			oddity: "speaks 2026-07-28 too",
		},
		{
			toolbox: "documents", name: "pdf-reader", file: "@sylphx/pdf-reader-mcp/dist/index.js",
			calls:  []call{{"read_pdf", `{"sources":[{"path":"none.pdf"}]}`}, {"read_pdf", `{}`}},
			oddity: "unknown method -32603",
		},
		{
			toolbox: "documents", name: "exa", file: "exa-mcp-server/dist/stdio.cjs",
			env:   map[string]string{"EXA_API_KEY": "none"},
			calls: []call{{"web_search_exa", `{}`}},
		},
		{
			toolbox: "documents", name: "howtocook", file: "howtocook-mcp/build/index.js",
			calls: []call{{"mcp_howtocook_getRecipeById", `{"query":"没有这道菜"}`}, {"mcp_howtocook_getRecipesByCategory", `{}`}},
		},
		{
			toolbox: "documents", name: "firecrawl", file: "firecrawl-mcp/dist/index.js",
			env:    map[string]string{"FIRECRAWL_API_KEY": "fc-none", "FIRECRAWL_API_URL": "http://" + nobody},
			calls:  []call{{"firecrawl_scrape", `{}`}},
			oddity: "91 KB of tools",
		},
		{
			toolbox: "documents", name: "tavily", file: "tavily-mcp/build/index.js",
			env:   map[string]string{"TAVILY_API_KEY": "tvly-none"},
			calls: []call{{"tavily_search", `{}`}},
		},
		{
			toolbox: "documents", name: "brave", file: "@brave/brave-search-mcp-server/dist/index.js",
			env:   map[string]string{"BRAVE_API_KEY": "none"},
			calls: []call{{"brave_web_search", `{}`}},
		},
		{
			toolbox: "data", name: "chart", file: "@antv/mcp-server-chart/build/index.js",
			env:   map[string]string{"VIS_REQUEST_SERVER": "http://" + nobody},
			calls: []call{{"generate_pie_chart", `{}`}},
		},
		{
			toolbox: "data", name: "mongodb", file: "mongodb-mcp-server/dist/esm/index.js",
			env:    map[string]string{"MDB_MCP_TELEMETRY": "disabled"},
			calls:  []call{{"list-connections", `{}`}, {"find", `{}`}},
			oddity: "speaks 2026-07-28 too",
		},
		{
			toolbox: "data", name: "maps", file: "@modelcontextprotocol/server-google-maps/dist/index.js",
			env:   map[string]string{"GOOGLE_MAPS_API_KEY": "none"},
			calls: []call{{"maps_geocode", `{}`}},
		},
		{
			toolbox: "data", name: "slack", file: "@modelcontextprotocol/server-slack/dist/index.js",
			env:   map[string]string{"SLACK_BOT_TOKEN": "none", "SLACK_TEAM_ID": "none"},
			calls: []call{{"slack_post_message", `{}`}},
		},
		{
			toolbox: "data", name: "figma", file: "figma-developer-mcp/dist/bin.js", args: []string{"--stdio"},
			env:   map[string]string{"FIGMA_API_KEY": "none", "FRAMELINK_TELEMETRY": "off"},
			calls: []call{{"get_figma_data", `{}`}},
		},
		{
			toolbox: "data", name: "sqlite", file: "mcp-server-sqlite/dist/cli.js", args: []string{filepath.Join(b.files, "data.db")},
			calls: []call{{"list-tables", `{}`}, {"query", `{}`}},
		},
	}
}
