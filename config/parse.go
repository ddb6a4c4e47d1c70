package config

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/tailscale/hujson"
)

// Parse reads a configuration. Name appears in errors.
func Parse(name string, data []byte, lookup func(string) (string, bool)) (*Config, error) {
	v, err := hujson.Parse(data)
	if err != nil {
		return nil, &Error{Faults: []Fault{{File: name, Message: err.Error()}}}
	}
	c := &Config{Path: name, ToolMode: ToolModeAuto, OpenTimeout: DefaultOpenTimeout}
	v.Standardize()
	var top struct {
		ToolMode  ToolMode
		Toolboxes map[string]struct {
			Description string
			Open        bool
			MCPServers  map[string]struct {
				Server
				Type       Transport
				Timeouts   map[string]string
				InheritEnv json.RawMessage
			} `json:"mcpServers"`
		}
	}
	if err := json.Unmarshal(v.Pack(), &top); err != nil {
		return nil, &Error{Faults: []Fault{{File: name, Message: err.Error()}}}
	}
	if top.ToolMode != "" {
		c.ToolMode = top.ToolMode
	}
	for _, boxName := range names(v.Find("/toolboxes")) {
		from := top.Toolboxes[boxName]
		box := Toolbox{Name: boxName, Description: from.Description, Open: from.Open}
		for _, serverName := range names(v.Find("/toolboxes/" + boxName + "/mcpServers")) {
			s := from.MCPServers[serverName].Server
			s.Name, s.Timeouts = serverName, defaultTimeouts()
			switch {
			case s.Builtin != "":
				s.Transport, s.Conditions = TransportBuiltin, "strict"
			case s.Command != "":
				s.Transport = TransportStdio
			case s.Transport == "":
				s.Transport = TransportHTTP
			}
			var timeouts = map[string]*time.Duration{"start": &s.Timeouts.Start, "callIdle": &s.Timeouts.CallIdle, "callTotal": &s.Timeouts.CallTotal}
			for k, text := range from.MCPServers[serverName].Timeouts {
				d, err := time.ParseDuration(text)
				if err != nil || timeouts[k] == nil {
					return nil, fmt.Errorf("%s: timeouts.%s: %q", name, k, text)
				}
				*timeouts[k] = d
			}
			box.Servers = append(box.Servers, s)
		}
		c.Toolboxes = append(c.Toolboxes, box)
	}
	return c, nil
}

func names(v *hujson.Value) []string {
	var all []string
	if v == nil {
		return nil
	}
	if o, ok := v.Value.(*hujson.Object); ok {
		for _, m := range o.Members {
			all = append(all, m.Name.Value.(hujson.Literal).String())
		}
	}
	return all
}

// Load reads and parses one file.
func Load(path string, lookup func(string) (string, bool)) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, lookup)
}

// Find returns the path of the configuration file to use: named, WORKBENCH_CONFIG, workbench-config.json in dir.
func Find(named string, dir string, lookup func(string) (string, bool)) (path string, searched []string, err error) {
	if named == "" {
		named, _ = lookup("WORKBENCH_CONFIG")
	}
	if named == "" {
		named = dir + "/workbench-config.json"
		if _, err := os.Stat(named); err != nil {
			return "", []string{named}, nil
		}
		return named, nil, nil
	}
	if _, err := os.Stat(named); err != nil {
		return "", nil, err
	}
	return named, nil, nil
}
