package workflow

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

func workflowListCommand(env *opening.Environment) *cobra.Command {
	var asJSON bool
	var tags []string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the workflows, and the files that are not valid",
		Long: `List prints every workflow with its source and the one that it replaces, and then the
files that are not valid with their faults.`,
		Example: `  workbench workflow list
  workbench workflow list --tag review --json`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, _, err := readCatalogue(env)
			if err != nil {
				return err
			}
			if asJSON {
				return terminal.PrintJSON(env.Out, listed(c, tags))
			}
			return printList(terminal.Clean(env.Out), c, tags)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().StringSliceVar(&tags, "tag", nil, "only workflows with this `tag` or category; may be repeated, one is enough")
	return cmd
}

// tagged reports whether the workflow has one of the tags.
func tagged(e *definition.Entry, tags []string) bool {
	return len(tags) == 0 || slices.ContainsFunc(tags, func(tag string) bool {
		return e.Category == tag || slices.Contains(e.Tags, tag)
	})
}

func printList(out io.Writer, c *definition.Catalogue, tags []string) error {
	n := 0
	for _, e := range c.Entries {
		if !tagged(e, tags) {
			continue
		}
		n++
		fmt.Fprintf(out, "%s  %s\n", e.ID, e.Version)
		fmt.Fprint(out, terminal.Wrap(e.Description, "    ", 100))
		fmt.Fprintf(out, "    %s, %s", terminal.Count(len(e.Steps), "step"), place(e.Place))
		for _, below := range e.Shadows {
			fmt.Fprintf(out, ", instead of %s", place(below))
		}
		fmt.Fprintln(out)
		if len(e.Warnings) > 0 {
			fmt.Fprintf(out, "    %s; workbench workflow validate shows them\n", terminal.Count(len(e.Warnings), "warning"))
		}
	}
	for _, f := range c.Invalid {
		fmt.Fprintf(out, "\nnot valid: %s\n", place(f.Place))
		for _, fault := range f.Faults {
			fmt.Fprintf(out, "    %s\n", fault)
		}
	}
	for _, s := range c.Sources {
		if s.Err != "" {
			fmt.Fprintf(out, "\nnot readable: %s: %s\n", cli.Shown(s.Dir), cli.Shown(s.Err))
		}
	}
	if n > 0 || len(c.Invalid) > 0 {
		fmt.Fprintln(out)
	}
	_, err := fmt.Fprintf(out, "%s, %s\n", terminal.Count(n, "workflow"), terminal.Count(len(c.Invalid), "invalid file"))
	return err
}

func place(p definition.Place) string {
	if p.Origin == definition.Embedded {
		return "part of workbench"
	}
	return cli.Shown(p.File)
}

// A listedWorkflow is an entry of the list as JSON.
type listedWorkflow struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Category    string             `json:"category"`
	Version     string             `json:"version"`
	Tags        []string           `json:"tags,omitempty"`
	Steps       int                `json:"steps"`
	Origin      definition.Origin  `json:"origin"`
	File        string             `json:"file"`
	Shadows     []definition.Place `json:"shadows,omitempty"`
	Warnings    []definition.Fault `json:"warnings,omitempty"`
}

type listedCatalogue struct {
	Workflows []listedWorkflow     `json:"workflows"`
	Invalid   []definition.Invalid `json:"invalid"`
}

func listed(c *definition.Catalogue, tags []string) listedCatalogue {
	list := listedCatalogue{Workflows: []listedWorkflow{}, Invalid: []definition.Invalid{}}
	for _, e := range c.Entries {
		if tagged(e, tags) {
			list.Workflows = append(list.Workflows, listedWorkflow{e.ID, e.Name, e.Description, e.Category, e.Version,
				e.Tags, len(e.Steps), e.Origin, e.File, e.Shadows, e.Warnings})
		}
	}
	list.Invalid = append(list.Invalid, c.Invalid...)
	return list
}

// listedSource is a place where workflows are looked for, as JSON.
type listedSource struct {
	Origin    definition.Origin `json:"origin"`
	Dir       string            `json:"dir,omitempty"` // none for those that are part of workbench
	Present   bool              `json:"present"`
	Workflows int               `json:"workflows"`
	Invalid   int               `json:"invalid"`
	Err       string            `json:"error,omitempty"`
}

func workflowSourcesCommand(env *opening.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sources",
		Short: "Show where workbench looks for workflows",
		Long: `Sources prints the places where workbench looks for workflows. If two places have a
workflow with the same id, the later one is used.`,
		Example: "  workbench workflow sources\n  workbench workflow sources --json",
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, _, err := readCatalogue(env)
			if err != nil {
				return err
			}
			if asJSON {
				list := []listedSource{}
				for _, s := range c.Sources {
					list = append(list, listedSource{s.Origin, s.Dir, s.Present || s.FS != nil, s.Workflows, s.Invalid, s.Err})
				}
				return terminal.PrintJSON(env.Out, list)
			}
			for _, s := range c.Sources {
				state := fmt.Sprintf("%s, %s not valid", terminal.Count(s.Workflows, "workflow"), terminal.Count(s.Invalid, "file"))
				switch {
				case s.Err != "":
					state = s.Err
				case !s.Present:
					state = "does not exist"
				case s.Invalid == 0:
					state = terminal.Count(s.Workflows, "workflow")
				}
				dir := s.Dir
				if s.FS != nil {
					dir = "(part of workbench)"
				}
				fmt.Fprintf(env.Out, "%-8s  %s\n          %s\n", s.Origin, dir, state)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}
