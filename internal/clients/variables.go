package clients

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// variables writes the variables of a string as workbench does.
func (c *conversion) variables(key string, n *document.Node) string {
	if !strings.ContainsAny(n.Value, "$%{:") {
		return n.Value
	}
	vars := Vars("")
	if c.Client != nil {
		vars = c.Client.Vars
	}
	return c.patterns.reference.ReplaceAllStringFunc(n.Value, func(found string) string {
		switch {
		case strings.HasPrefix(found, "op://"):
			return c.stands(key, n, found, "a secret of 1Password")
		case vars == VarsNone:
			return Literal(found)
		case strings.HasPrefix(found, "${{"):
			_, name, _ := strings.Cut(strings.TrimSpace(strings.Trim(found, "${}")), "secrets.")
			return c.stands(name, n, found, "a secret of the client")
		case strings.HasPrefix(found, "${") && vars == VarsBraces:
			return "$" + found
		case strings.HasPrefix(found, "${"):
			return c.braces(key, n, found)
		case found[0] == '{' && vars == VarsBraces:
			kind, what, _ := strings.Cut(found[1:len(found)-1], ":")
			if kind == "env" && c.patterns.named.MatchString(what) {
				return "${" + what + "}"
			}
			return c.stands(key, n, found, "the text of a file")
		case found == "$(" && vars == VarsShell:
			c.note(n.Line, "the output of a command in $( ) is not filled in: %s stays as it is written", cmp.Or(key, "the string"))
		case found[0] == '$' && found != "$(" && vars == VarsShell && !c.own(key, found[1:]):
			return "${" + found[1:] + "}"
		case found[0] == '%' && vars == VarsShell && c.System.GOOS == "windows":
			return "${" + strings.Trim(found, "%") + "}"
		}
		return found
	})
}

// braces writes what stands in ${ }.
func (c *conversion) braces(key string, n *document.Node, found string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(found, "${"), "}")
	kind, what, _ := strings.Cut(inner, ":")
	switch {
	case !strings.HasSuffix(found, "}"):
		return "$" + found
	case c.patterns.named.MatchString(inner) && !strings.HasPrefix(inner, "workspace") && inner != "userHome" && inner != "pathSeparator":
		if name, _, _ := strings.Cut(inner, ":"); c.own(key, name) {
			return "$" + found
		}
		return found
	case kind == "env" && c.patterns.named.MatchString(what):
		return "${" + what + "}"
	case kind == "input":
		text := "an input that the client asks for"
		if about := c.prompted[what]; about != "" {
			text += " (" + shown(about) + ")"
		}
		return c.stands(what, n, found, text)
	case inner == "userHome":
		return c.home()
	case inner == "pathSeparator" || inner == "/":
		if c.System.GOOS == "windows" {
			return `\`
		}
		return "/"
	case (inner == "workspaceFolder" || inner == "workspaceRoot") && c.project != "":
		return c.project
	case inner == "workspaceFolderBasename" && c.project != "":
		return path.Base(strings.ReplaceAll(c.project, `\`, "/"))
	case strings.HasPrefix(inner, "workspace"):
		return c.stands("WORKSPACE_FOLDER", n, found, "the folder that is open in the client")
	case kind == "file":
		return c.stands(key, n, found, "the text of a file")
	case !c.patterns.known.MatchString(inner): // as a shell writes it, which the program may be
		return "$" + found
	}
	return c.stands(cmp.Or(what, inner), n, found, "what the client knows")
}

// own reports whether a variable in an argument, which has no key, is one that the entry gives its program. Clients leave
// it as it is written, and the program fills it in, as mcp-remote does in its headers.
func (c *conversion) own(key, name string) bool {
	return key == "" && slices.Contains(c.given, name)
}

// stands writes a variable for what workbench has no form of, and says so.
func (c *conversion) stands(name string, n *document.Node, found, what string) string {
	name = Variable(cmp.Or(name, c.entry.Name+" value"))
	c.note(n.Line, "%s stands for %s: set the variable %s to it", shown(found), what, name)
	return "${" + name + "}"
}

// Literal writes a text so that no variable of workbench is in it.
func Literal(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// Variable makes the name of a variable of a text: api-key becomes API_KEY.
func Variable(text string) string {
	var b strings.Builder
	for _, r := range strings.ToUpper(text) {
		switch {
		case 'A' <= r && r <= 'Z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	name := strings.TrimSuffix(b.String(), "_")
	if name == "" || name[0] <= '9' {
		name = strings.TrimSuffix("VALUE_"+name, "_")
	}
	return name
}
