package clients

// All returns the clients, those that are used most first.
func All() []Client {
	list := []Client{
		{Name: "claude-code", Title: "Claude Code", User: places("$CLAUDE_CONFIG_DIR/.claude.json", "~/.claude.json"),
			Project: []string{".mcp.json"}, Form: Form{TypeKey: "type", Stdio: "stdio", HTTP: "http"}},
		{Name: "claude-desktop", Title: "Claude Desktop", User: places("CFG/Claude/claude_desktop_config.json"),
			Form: Form{NoHTTP: true}, Desktop: true, Vars: VarsNone},
		{Name: "cursor", Title: "Cursor", User: places("~/.cursor/mcp.json"), Project: []string{".cursor/mcp.json"}, Desktop: true},
		{Name: "vscode", Title: "VS Code", User: places("CFG/Code/User/mcp.json", "CFG/Code/User/profiles/*/mcp.json", "~/.vscode-server/data/User/mcp.json"),
			Project: []string{".vscode/mcp.json"}, Key: []string{"servers"}, Form: Form{TypeKey: "type", Stdio: "stdio", HTTP: "http"}, Desktop: true},
		{Name: "vscode-insiders", Title: "VS Code Insiders", User: places("CFG/Code - Insiders/User/mcp.json", "CFG/Code - Insiders/User/profiles/*/mcp.json"),
			Key: []string{"servers"}, Form: Form{TypeKey: "type", Stdio: "stdio", HTTP: "http"}, Desktop: true},
		{Name: "windsurf", Title: "Windsurf", User: places("~/.codeium/windsurf/mcp_config.json", "~/.codeium/mcp_config.json"),
			Form: Form{URL: "serverUrl"}, Desktop: true},
		{Name: "devin", Title: "Devin CLI", User: Places{Any: []string{"~/.config/devin/mcp_config.json"}, Windows: []string{"CFG/devin/mcp_config.json"}},
			Project: []string{".devin/mcp_config.json"}, Form: Form{URL: "serverUrl"}},
		{Name: "zed", Title: "Zed", User: Places{Any: []string{"~/.config/zed/settings.json"}, Windows: []string{"CFG/Zed/settings.json"}},
			Project: []string{".zed/settings.json"}, Key: []string{"context_servers"},
			Form: Form{TypeKey: "source", Stdio: "custom", HTTP: "custom"}, Desktop: true, Vars: VarsNone},
		{Name: "codex", Title: "Codex", User: places("$CODEX_HOME/config.toml", "~/.codex/config.toml"), Project: []string{".codex/config.toml"},
			Format: TOML, Key: []string{"mcp_servers"}, Form: Form{TokenVar: "bearer_token_env_var"}, Vars: VarsNone, Keeps: KeepsMost},
		{Name: "gemini", Title: "Gemini CLI", User: places("$GEMINI_CLI_HOME/.gemini/settings.json", "~/.gemini/settings.json"),
			Project: []string{".gemini/settings.json"}, Form: Form{URL: "httpUrl"}, Vars: VarsShell, Timeout: "call ms", Keeps: KeepsSecrets},
		{Name: "antigravity", Title: "Antigravity", User: places("~/.gemini/config/mcp_config.json", "~/.gemini/antigravity/mcp_config.json"),
			Form: Form{URL: "serverUrl"}, Desktop: true},
		{Name: "opencode", Title: "opencode", User: places("XDG/opencode/opencode.json", "XDG/opencode/opencode.jsonc"),
			Project: []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"}, Key: []string{"mcp"}, Form: opencode(), Vars: VarsBraces, Timeout: "start ms"},
		{Name: "kilo", Title: "Kilo Code", User: places("~/.config/kilo/kilo.json", "~/.config/kilo/kilo.jsonc"),
			Project: []string{"kilo.json", "kilo.jsonc", ".kilo/kilo.json", ".kilo/kilo.jsonc"}, Key: []string{"mcp"}, Form: opencode(), Vars: VarsBraces, Timeout: "start ms"},
		{Name: "cline", Title: "Cline", User: places(cline("Code"), cline("Cursor")), Form: Form{TypeKey: "type", HTTP: "streamableHttp"}, Desktop: true, Timeout: "call s"},
		{Name: "cline-cli", Title: "Cline CLI", User: places("$CLINE_DIR/data/settings/cline_mcp_settings.json", "~/.cline/data/settings/cline_mcp_settings.json"),
			Form: Form{TypeKey: "type", HTTP: "streamableHttp"}, Timeout: "call s"},
		{Name: "roo", Title: "Roo Code", User: places("CFG/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
			Project: []string{".roo/mcp.json"}, Form: Form{TypeKey: "type", HTTP: "streamable-http"}, Desktop: true, Timeout: "call s"},
		{Name: "copilot", Title: "Copilot CLI", User: places("$XDG_CONFIG_HOME/mcp-config.json", "~/.copilot/mcp-config.json"),
			Project: []string{".mcp.json", ".github/mcp.json"},
			Form:    Form{TypeKey: "type", Stdio: "stdio", HTTP: "http", Fixed: []Fixed{{"tools", `["*"]`}}}},
		{Name: "junie", Title: "JetBrains Junie", User: places("~/.junie/mcp/mcp.json"), Project: []string{".junie/mcp/mcp.json"}, Desktop: true},
		{Name: "goose", Title: "Goose", User: Places{Any: []string{"XDG/goose/config.yaml"}, Windows: []string{"CFG/Block/goose/config/config.yaml"}},
			Project: []string{".goose/config.yaml"}, Format: YAML, Key: []string{"extensions"},
			Form: Form{Named: true, TypeKey: "type", Stdio: "stdio", HTTP: "streamable_http", Command: "cmd", Env: "envs", URL: "uri",
				Fixed: []Fixed{{"enabled", "true"}, {"timeout", "300"}}}, Desktop: true, Timeout: "call s"},
		{Name: "amp", Title: "Amp", User: Places{Any: []string{"~/.config/amp/settings.json"}, Windows: []string{"CFG/amp/settings.json"}},
			Project: []string{".amp/settings.json"}, Key: []string{"amp.mcpServers"}},
		{Name: "kiro", Title: "Kiro", User: places("~/.kiro/settings/mcp.json"), Project: []string{".kiro/settings/mcp.json"}, Desktop: true, Timeout: "call ms"},
		{Name: "amazonq", Title: "Amazon Q", User: places("~/.aws/amazonq/mcp.json"), Project: []string{".amazonq/mcp.json"}},
		{Name: "continue", Title: "Continue", User: places("~/.continue/config.yaml"), Project: []string{".continue/mcpServers/*.yaml"},
			Format: YAML, Form: Form{List: true, Named: true, NoHTTP: true}, Desktop: true},
		{Name: "lmstudio", Title: "LM Studio", User: places("~/.lmstudio/mcp.json", "~/.cache/lm-studio/mcp.json"), Desktop: true},
		{Name: "warp", Title: "Warp", User: places("~/.warp/.mcp.json"), Desktop: true},
		{Name: "factory", Title: "Factory Droid", User: places("~/.factory/mcp.json"), Project: []string{".factory/mcp.json"},
			Form: Form{TypeKey: "type", Stdio: "stdio", HTTP: "http"}},
		{Name: "crush", Title: "Crush", User: Places{Any: []string{"XDG/crush/crush.json"}, Windows: []string{"LOCAL/crush/crush.json"}},
			Project: []string{".crush.json"}, Key: []string{"mcp"}, Form: Form{TypeKey: "type", Stdio: "stdio", HTTP: "http"}, Vars: VarsShell},
		{Name: "grok", Title: "Grok Build", User: places("$GROK_HOME/config.toml", "~/.grok/config.toml"), Project: []string{".grok/config.toml"},
			Format: TOML, Key: []string{"mcp_servers"}, Vars: VarsNone},
		{Name: "qwen", Title: "Qwen Code", User: places("$QWEN_HOME/settings.json", "~/.qwen/settings.json"), Project: []string{".qwen/settings.json"},
			Form: Form{URL: "httpUrl"}, Vars: VarsShell, Timeout: "call ms"},
		{Name: "kimi", Title: "Kimi Code", User: places("$KIMI_CODE_HOME/mcp.json", "~/.kimi-code/mcp.json", "~/.kimi/mcp.json"),
			Project: []string{".kimi-code/mcp.json"}, Form: Form{TypeKey: "transport", Stdio: "stdio", HTTP: "http"}},
		{Name: "vibe", Title: "Mistral Vibe", User: places("~/.vibe/config.toml"), Format: TOML, Key: []string{"mcp_servers"},
			Form: Form{List: true, Named: true, TypeKey: "transport", Stdio: "stdio", HTTP: "streamable-http"}, Vars: VarsNone},
		{Name: "trae", Title: "Trae", User: places("CFG/Trae/User/mcp.json"), Project: []string{".trae/mcp.json"}, Desktop: true},
		{Name: "mastracode", Title: "Mastra Code", User: places("~/.mastracode/mcp.json"), Project: []string{".mastracode/mcp.json"}},
		{Name: "pi", Title: "Pi", User: places("$PI_CODING_AGENT_DIR/mcp.json", "~/.pi/agent/mcp.json"), Project: []string{".pi/mcp.json"}},
		{Name: "hermes", Title: "Hermes", User: places("~/.hermes/config.yaml"), Format: YAML, Key: []string{"mcp_servers"}},
		{Name: "mcporter", Title: "MCPorter", User: places("~/.mcporter/mcporter.json", "~/.mcporter/mcporter.jsonc"), Project: []string{"config/mcporter.json"}},
		{Name: "fx", Title: "fx", User: places("~/.fx/mcp.json"), Key: []string{"mcp"},
			Form: Form{TypeKey: "type", Stdio: "local", HTTP: "remote", Array: true, Env: "environment", TokenVar: "bearer_token_env"}, Vars: VarsBraces},
		{Name: "jan", Title: "Jan", User: places("DATA/Jan/data/mcp_config.json", "CFG/Jan/data/mcp_config.json"), Desktop: true},
		{Name: "boltai", Title: "BoltAI", User: places("~/.boltai/mcp.json"), Desktop: true},
		{Name: "anythingllm", Title: "AnythingLLM", User: places("CFG/anythingllm-desktop/storage/plugins/anythingllm_mcp_servers.json"), Desktop: true},
		{Name: "witsy", Title: "Witsy", User: places("CFG/Witsy/settings.json"), Desktop: true},
		{Name: "omp", Title: "Oh My Pi", User: places("~/.omp/agent/mcp.json")},
	}
	for i := range list {
		if c := &list[i]; c.Format == "" {
			c.Format = JSON
		}
		if c := &list[i]; c.Key == nil {
			c.Key = []string{"mcpServers"}
		}
	}
	return list
}

// Find returns the client of that name, or false if there is none.
func Find(name string) (Client, bool) {
	for _, c := range All() {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

func places(paths ...string) Places { return Places{Any: paths} }

func opencode() Form {
	return Form{TypeKey: "type", Stdio: "local", HTTP: "remote", Array: true, Env: "environment", Fixed: []Fixed{{"enabled", "true"}}}
}

func cline(editor string) string {
	return "CFG/" + editor + "/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
}
