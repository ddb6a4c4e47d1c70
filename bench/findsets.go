package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/workbench/internal/find"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// findSet is a collection of tools and of questions for them.
type findSet struct {
	name    string
	servers []find.Server
	asked   []question
}

// question is what somebody asks for, and the tools that are wanted, each as SERVER/TOOL.
type question struct {
	text   string
	wanted []string
}

// setReaders read the sets that are known from checkouts of the repositories that have them.
func setReaders() map[string]func(dir string) ([]findSet, error) {
	return map[string]func(string) ([]findSet, error){
		"mcpproxy": readMCPProxy, "metatool": readMetaTool, "stabletoolbench": readStableToolBench, "mcp-tef": readTools,
	}
}

func readJSON(to any, path ...string) error {
	name := filepath.Join(path...)
	raw, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// collection puts tools to their servers, in the order in which they come.
type collection struct {
	servers []find.Server
	at      map[string]int
	known   map[string]bool
}

func (c *collection) add(server, about string, e find.Entry) {
	if c.at == nil {
		c.at, c.known = make(map[string]int), make(map[string]bool)
	}
	if c.known[server+"/"+e.Name] {
		return
	}
	c.known[server+"/"+e.Name] = true
	i, ok := c.at[server]
	if !ok {
		i = len(c.servers)
		c.at[server] = i
		c.servers = append(c.servers, find.Server{Name: server, Description: about})
	}
	c.servers[i].Entries = append(c.servers[i].Entries, e)
}

// described is the schema of parameters with descriptions.
func described(parameters map[string]string) []byte {
	properties := make(map[string]any)
	for name, about := range parameters {
		properties[name] = map[string]string{"description": about}
	}
	return wire.MustEncode(map[string]any{"properties": properties})
}

// readMCPProxy reads the golden queries of smart-mcp-proxy/mcpproxy-go.
func readMCPProxy(dir string) ([]findSet, error) {
	dir = filepath.Join(dir, "specs", "065-evaluation-foundation", "datasets")
	var corpus struct {
		Tools []struct{ Description, Server, Tool string }
	}
	var golden struct {
		Queries []struct {
			Query  string
			Labels []struct {
				Tool string `json:"tool_id"`
			}
		}
	}
	if err := readJSON(&corpus, dir, "corpus_v1.tools.json"); err != nil {
		return nil, err
	}
	if err := readJSON(&golden, dir, "retrieval_golden_v1.json"); err != nil {
		return nil, err
	}
	s, c := findSet{name: "mcpproxy golden"}, collection{}
	for _, t := range corpus.Tools {
		c.add(t.Server, "", find.Entry{Name: t.Tool, Description: t.Description})
	}
	for _, q := range golden.Queries {
		one := question{text: q.Query}
		for _, l := range q.Labels {
			one.wanted = append(one.wanted, strings.Replace(l.Tool, ":", "/", 1))
		}
		s.asked = append(s.asked, one)
	}
	s.servers = c.servers
	return []findSet{s}, nil
}

// readMetaTool reads the queries for one tool and for several of HowieHwong/MetaTool.
func readMetaTool(dir string) ([]findSet, error) {
	dir = filepath.Join(dir, "dataset")
	about := make(map[string]string)
	for _, name := range []string{"plugin_des.json", "big_tool_des.json"} {
		if err := readJSON(&about, dir, name); err != nil {
			return nil, err
		}
	}
	f, err := os.Open(filepath.Join(dir, "data", "all_clean_data.csv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	single, several := findSet{name: "MetaTool, one tool"}, findSet{name: "MetaTool, several tools"}
	var c collection
	for _, row := range rows[1:] {
		c.add("plugins", "", find.Entry{Name: row[1], Description: about[row[1]]})
		single.asked = append(single.asked, question{row[0], []string{"plugins/" + row[1]}})
	}
	var golden []struct {
		Query string
		Tool  []string
	}
	if err := readJSON(&golden, dir, "data", "multi_tool_query_golden.json"); err != nil {
		return nil, err
	}
	for _, g := range golden {
		one := question{text: g.Query}
		for _, t := range g.Tool {
			one.wanted = append(one.wanted, "plugins/"+t)
		}
		several.asked = append(several.asked, one)
	}
	single.servers, several.servers = c.servers, c.servers
	return []findSet{single, several}, nil
}

// readStableToolBench reads the solvable queries of THUNLP-MT/StableToolBench. All their interfaces are searched for
// each.
func readStableToolBench(dir string) (sets []findSet, err error) {
	type parameter struct{ Name, Type, Description string }
	type query struct {
		Interfaces []struct {
			Tool        string      `json:"tool_name"`
			Name        string      `json:"api_name"`
			Description string      `json:"api_description"`
			Category    string      `json:"category_name"`
			Required    []parameter `json:"required_parameters"`
			Optional    []parameter `json:"optional_parameters"`
		} `json:"api_list"`
		Query    string
		Relevant [][]string `json:"relevant APIs"`
	}
	var c collection
	for _, name := range []string{"G1_instruction", "G1_tool", "G1_category", "G2_instruction", "G2_category", "G3_instruction"} {
		var queries []query
		if err := readJSON(&queries, dir, "solvable_queries", "test_instruction", name+".json"); err != nil {
			return nil, err
		}
		s := findSet{name: "StableToolBench " + name}
		for _, q := range queries {
			one := question{text: q.Query}
			for _, r := range q.Relevant {
				one.wanted = append(one.wanted, strings.Join(r, "/"))
			}
			s.asked = append(s.asked, one)
			for _, api := range q.Interfaces {
				parameters := make(map[string]string)
				for _, p := range append(api.Required, api.Optional...) {
					parameters[p.Name] = p.Description
				}
				c.add(api.Tool, api.Category, find.Entry{Name: api.Name, Description: api.Description, Schema: described(parameters)})
			}
		}
		sets = append(sets, s)
	}
	for i := range sets {
		sets[i].servers = c.servers
	}
	return sets, nil
}

// readTools reads the tools of 308 servers that StacklokLabs/mcp-tef has, for which there are no questions.
func readTools(dir string) ([]findSet, error) {
	var servers []struct {
		Name, Description string
		Tools             []struct {
			Name, Description string
			Parameter         map[string]string
		}
	}
	if err := readJSON(&servers, dir, "tests", "data", "mcp_tools_cleaned.json"); err != nil {
		return nil, err
	}
	var c collection
	for _, s := range servers {
		for _, t := range s.Tools {
			c.add(s.Name, s.Description, find.Entry{Name: t.Name, Description: t.Description, Schema: described(t.Parameter)})
		}
	}
	return []findSet{{name: "mcp-tef", servers: c.servers}}, nil
}
