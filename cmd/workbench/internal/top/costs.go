package top

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/tokencount"
)

// costs are what the tools of the toolboxes of the configuration cost a model, by what runs, or else as they were seen
// last.
type costs struct {
	cfg   *config.Config
	boxes []boxCosts
	wrong error
	live  map[string]serverCosts // by the full name of a server
}

type boxCosts struct {
	name, description string
	servers           []serverCosts
}

type serverCosts struct {
	name          string
	tools, tokens int
}

// sum is that of all servers of a toolbox.
func (b *boxCosts) sum() (sum serverCosts) {
	for _, s := range b.servers {
		sum.tools += s.tools
		sum.tokens += s.tokens
	}
	return sum
}

// costsOf reckons them by what was seen last.
func costsOf(env *opening.Environment) costs {
	boxes, cfg, err := env.Recalled()
	if err != nil {
		return costs{wrong: err}
	}
	c := costs{cfg: cfg}
	for _, b := range boxes {
		of, _ := cfg.Toolbox(b.Name)
		one := boxCosts{name: b.Name, description: of.Description.String()}
		for _, srv := range b.Servers() {
			one.servers = append(one.servers, serverCosts{srv.Name, srv.Status().Tools, tokencount.Of(srv.ToolsSize())})
		}
		c.boxes = append(c.boxes, one)
	}
	return c
}

func (c *costs) heard(what any) {
	switch what := what.(type) {
	case costs:
		what.live = c.live
		*c = what
	case stands:
		for b, srv := range what.says.Servers() {
			if srv.Tools > 0 {
				c.live[b.Name+"/"+srv.Name] = serverCosts{srv.Name, srv.Tools, srv.Tokens}
			}
		}
	default:
		return
	}
	for _, b := range c.boxes {
		for i := range b.servers {
			if live, is := c.live[b.name+"/"+b.servers[i].name]; is {
				b.servers[i] = live
			}
		}
	}
}

func (c *costs) name() string      { return "toolboxes" }
func (c *costs) len() int          { return len(c.boxes) }
func (c *costs) id(row int) string { return c.boxes[row].name }
func (c *costs) columns() []string {
	return []string{"TOOLBOX", "SERVERS", "TOOLS", "TOKENS", "DESCRIPTION"}
}
func (c *costs) words(row int) string { return c.boxes[row].name + " " + c.boxes[row].description }

func (c *costs) none() string { return because(c.wrong, "the configuration has no toolbox") }

func (c *costs) cells(row int) []string {
	b := &c.boxes[row]
	sum := b.sum()
	return []string{b.name, fmt.Sprint(len(b.servers)), fmt.Sprint(sum.tools), fmt.Sprint(sum.tokens), b.description}
}

func (c *costs) about(row, width int) string {
	var each []string
	for _, s := range c.boxes[row].servers {
		each = append(each, fmt.Sprintf("%s: %s, %d tokens", s.name, terminal.Count(s.tools, "tool"), s.tokens))
	}
	sizes := make(map[string]int)
	for i := range c.boxes {
		sizes[c.boxes[i].name] = c.boxes[i].sum().tokens * tokencount.BytesPerToken
	}
	return terminal.Wrap(strings.Join(each, "; "), "", width) + terminal.Wrap(opening.Costs(c.cfg, sizes), "", width)
}

func (c *costs) keys() []key {
	return []key{{key: "enter", does: "its tools", command: func(row int) []string { return []string{"tools", "--offline", c.boxes[row].name} }}}
}
