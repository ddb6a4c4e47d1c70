package mcptest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// New makes the server that specs describe, each KEY=VALUE or KEY, so that a configuration or a command line can ask
// for it:
//
//	tools=echo,fail      these of the tools, with short definitions
//	tool={"name":…}      one more tool, of that definition
//	prompts=greet        prompts of these names
//	resources=a:1,a:2    resources of these uris
//	templates=a:{n}      resource templates
//	skills=git,mail      skills of these names, each of two files
//	page=3               pages of three entries
//	name=fs              the name that it gives itself, where it says who answers
//	capabilities={…}     the capabilities object
//	modern               revision 2026-07-28 alone
//	gate=FILE            no handshake before there is such a file
//	silent=prompts/list  these methods are never answered
//	refuse=tools/list    these methods are answered with an error
//	lack=prompts/list    these methods are not known
//
// Without specs it is the zero Server.
func New(specs ...string) (*Server, error) {
	s := new(Server)
	for _, spec := range specs {
		key, value, _ := strings.Cut(spec, "=")
		values := strings.Split(value, ",")
		switch key {
		case "tools":
			s.Tools = each(values, `{"name":%q,"inputSchema":{"type":"object"}}`)
		case "tool":
			s.Tools = append(s.Tools, value)
		case "prompts":
			s.Prompts = each(values, `{"name":%q,"x":1.0}`)
		case "resources":
			s.Resources = each(values, `{"name":"one","uri":%q}`)
		case "templates":
			s.Templates = each(values, `{"name":"some","uriTemplate":%q}`)
		case "skills":
			s.Skills = values
		case "page":
			n, err := strconv.Atoi(value)
			if err != nil {
				return nil, fmt.Errorf("mcptest: %s: %w", spec, err)
			}
			s.PageSize = n
		case "name":
			s.Name = value
		case "capabilities":
			s.Capabilities = value
		case "modern":
			s.Modern = true
		case "gate":
			s.Gate = value
		case "silent":
			s.Silent = values
		case "refuse":
			s.Refuse = values
		case "lack":
			s.Lack = values
		default:
			return nil, fmt.Errorf("mcptest: unknown spec %q", spec)
		}
	}
	return s, nil
}

// each makes a list entry for each name; [""] is no names.
func each(names []string, format string) []string {
	entries := []string{}
	for _, name := range slices.DeleteFunc(names, func(s string) bool { return s == "" }) {
		entries = append(entries, fmt.Sprintf(format, name))
	}
	return entries
}
