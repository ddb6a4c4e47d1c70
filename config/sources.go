package config

import "github.com/mcp-workbench/workbench/internal/document"

// SecretSource says where a secret comes from that the user does not keep with workbench.
type SecretSource struct {
	Command []string `key:"command"` // a program with its arguments, which prints the secret
}

// secrets reads where secrets come from.
func (c *checker) secrets(n *document.Node, path string) map[string]SecretSource {
	members, _ := c.members(n, path, ignored)
	all := make(map[string]SecretSource, len(members))
	for _, m := range members {
		at := join(path, m.Key)
		if wrong := WrongSecretName(m.Key); wrong != "" {
			c.fault(position{m.Line, m.Column}, at, wrong, "")
		}
		o, ok := c.object(m.Value, at)
		if !ok {
			continue
		}
		command, missing := o.command()
		if missing {
			c.fault(o.at, at, "want a command with its arguments, got none", `such as {"command": ["op", "read", "op://vault/item/field"]}`)
		}
		o.done(func(key string) string {
			switch key {
			case "keychain", "keyring", "file", "value":
				return "secrets that workbench keeps need no entry: workbench secret set NAME"
			}
			return ""
		})
		all[m.Key] = SecretSource{Command: command}
	}
	return all
}
