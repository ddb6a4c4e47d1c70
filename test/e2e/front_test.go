package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

const usage = "To access tools from a toolbox, use workbench_open_toolbox with the toolbox name."

// TestInstructions holds the text to the contract of the initialize instructions, in both eras.
func TestInstructions(t *testing.T) {
	b := newBed(t)
	toolbox := func(name, description string, servers ...string) string {
		entries := make([]string, 0, len(servers))
		for _, server := range servers {
			entries = append(entries, fmt.Sprintf(`"%s": {"command": "no-such-program"}`, server))
		}
		if description != "" {
			description = fmt.Sprintf(`"description": %q, `, description)
		}
		return fmt.Sprintf(`"%s": {%s"mcpServers": {%s}}`, name, description, strings.Join(entries, ", "))
	}
	tests := []struct {
		name      string
		toolboxes []string
		want      string
	}{
		{"several, in the order of the file",
			[]string{toolbox("prod", "Production monitoring tools", "x", "y"), toolbox("dev", "Development \"tools\" & more", "b", "a", "c")},
			"Available Toolboxes:\n\nprod (2 servers)\n  Description: Production monitoring tools\n\n" +
				"dev (3 servers)\n  Description: Development \"tools\" & more\n\n" + usage},
		{"one", []string{toolbox("dev", "Development environment tools", "a")},
			"Available Toolboxes:\n\ndev (1 servers)\n  Description: Development environment tools\n\n" + usage},
		{"without a description", []string{toolbox("dev", "", "a")},
			"Available Toolboxes:\n\ndev (1 servers)\n  Description: No description provided\n\n" + usage},
		{"none", nil, "No toolboxes configured.\n\nTo configure toolboxes, add them to your workbench-config.json file.\n" +
			"See documentation for configuration format."},
	}
	type answer struct {
		Instructions string
		ServerInfo   struct{ Name string }
		Meta         map[string]struct{ Name string } `json:"_meta"`
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config := fmt.Sprintf(`{"toolboxes": {%s}}`, strings.Join(test.toolboxes, ", "))
			c := b.in(t).workbench(config, wiretest.Options{})
			discovered := decode[answer](t, "server/discover", c.Result("server/discover", wiretest.Modern("", noCapabilities)))
			if discovered.Instructions != test.want {
				t.Errorf("server/discover: got instructions %q want %q", discovered.Instructions, test.want)
			}
			if got := discovered.Meta["io.modelcontextprotocol/serverInfo"].Name; got != "mcp-workbench" {
				t.Errorf("server/discover: got server name %q want mcp-workbench", got)
			}
			// A connection of its own: a client speaks one era on one connection.
			c = b.in(t).workbench(config, wiretest.Options{})
			initialized := decode[answer](t, "initialize", c.Initialize(wiretest.Legacy, noCapabilities))
			if initialized.Instructions != test.want {
				t.Errorf("initialize: got instructions %q want %q", initialized.Instructions, test.want)
			}
			if got := initialized.ServerInfo.Name; got != "mcp-workbench" {
				t.Errorf("initialize: got server name %q want mcp-workbench", got)
			}
		})
	}
}

// TestVersions: a known version is answered as asked, an unknown one with the newest that has a handshake.
func TestVersions(t *testing.T) {
	b := newBed(t)
	tests := []struct{ asked, want string }{ // what all other tests ask for is not among them
		{"2024-11-05", "2024-11-05"},
		{"2025-03-26", "2025-03-26"},
		{"2025-06-18", "2025-06-18"},
		{"1999-01-01", "2025-11-25"},
		{"2099-01-01", "2025-11-25"},
	}
	for _, test := range tests {
		t.Run(test.asked, func(t *testing.T) {
			b := b.in(t)
			c := b.workbench(b.farConfig("auto"), wiretest.Options{})
			result := decode[struct{ ProtocolVersion string }](t, "initialize", c.Initialize(test.asked, noCapabilities))
			if result.ProtocolVersion != test.want {
				t.Errorf("got version %s want %s", result.ProtocolVersion, test.want)
			}
			opened := open(t, c.Client, "spare")
			call := fmt.Sprintf(`{"name":%q,"arguments":{"message":"hi"}}`, opened.exposed(t, "everything", "echo"))
			echo := decode[toolResult](t, "echo", c.Result("tools/call", call))
			if got, want := echo.text(), "Echo: hi"; got != want {
				t.Errorf("got %q want %q", got, want)
			}
		})
	}
}

// metaTools are the tools that are always listed.
func metaTools() []string {
	return []string{"workbench_open_toolbox", "workbench_use_tool", "workbench_find_tools", "workbench_status"}
}

// listedAtFirst is what a client finds before anything is open.
func listedAtFirst(t *testing.T, c *wiretest.Client) {
	t.Helper()
	result := c.Result("tools/list", "")
	if got := names(t, result, "tools"); !slices.Equal(got, metaTools()) {
		t.Errorf("got tools %q want %q", got, metaTools())
	}
	type schema struct {
		InputSchema struct {
			Properties map[string]struct{ Enum []string }
		}
	}
	tool := decode[schema](t, "tool", items(t, result, "tools")[0])
	if got, want := tool.InputSchema.Properties["toolbox_name"].Enum, []string{"dev", "spare"}; !slices.Equal(got, want) {
		t.Errorf("got toolbox_name of %q want %q", got, want)
	}
}

// testRefusals: who asks for what there is not is told what there is.
func testRefusals(t *testing.T, s session) {
	refused := func(t *testing.T, params string) string {
		t.Helper()
		reply := s.client.In(t).Call("tools/call", params)
		if reply.Error != nil {
			return reply.Error.Message
		}
		result := decode[toolResult](t, "tools/call", reply.Result)
		if !result.IsError {
			t.Errorf("%s: got result %s want an error", params, wiretest.Clip(string(reply.Result)))
		}
		return result.text()
	}
	tests := []struct {
		name, params string
		want         []string // pieces of the text
	}{
		{"unknown toolbox", openParams("dve"), []string{"dve", "dev", "spare"}},
		{"toolbox is missing", `{"name":"workbench_open_toolbox","arguments":{}}`, []string{"toolbox_name"}},
		{"toolbox is no string", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":7}}`, []string{"toolbox_name"}},
		{"the tool that was removed", `{"name":"workbench_list_toolboxes","arguments":{}}`,
			[]string{"not found", "workbench_list_toolboxes"}},
		{"tool of no toolbox", `{"name":"dev__everything__ecko","arguments":{}}`, []string{"not found", "dev__everything__ecko"}},
		{"unknown tool to use", `{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"dev","server":"everything","name":"ecko"},"arguments":{}}}`,
			[]string{"dev", "everything", "ecko", "echo"}},
		{"unknown server to use", `{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"dev","server":"nobody","name":"echo"},"arguments":{}}}`,
			[]string{"dev", "nobody"}},
		{"unknown toolbox to use", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"dve","tool_name":"echo","arguments":{}}}`,
			[]string{"dve", "dev"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := refused(t, test.params)
			for _, want := range test.want {
				if !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
					t.Errorf("got %q, want it to say %q", got, want)
				}
			}
		})
	}
}
