package config

import (
	"fmt"
	"strings"
)

// referenceError is a reference that cannot be resolved, with what to write for it.
type referenceError struct{ text, hint string }

func (e referenceError) Error() string { return e.text }

// referenceHint is what there is to say of a reference that nothing better is known of.
const referenceHint = "variables are ${NAME} and ${NAME:-default}, secrets ${secret:NAME}; a literal ${ is $${"

// elsewhere says what to write for a reference that means something in the files of other clients; "" for any other.
func elsewhere(inside string) string {
	kind, name, _ := strings.Cut(inside, ":")
	switch kind {
	case "env":
		if !isVariable(name) {
			name = "NAME"
		}
		return fmt.Sprintf("write ${%s}", name)
	case "input":
		if WrongSecretName(name) != "" {
			name = "NAME"
		}
		return fmt.Sprintf("write ${secret:%s}, and have workbench secret set %s ask for it once", name, name)
	case "config", "command":
		return "there is no editor here that could answer: write the value, or ${NAME} for a variable"
	case "file":
		return `write ${secret:NAME} and keep it with workbench secret set, or name a file of variables in "envFile"`
	case "workspaceFolder", "workspaceRoot", "workspaceFolderBasename":
		return "there is no workspace here: write the path of the folder"
	case "userHome":
		return "write ${HOME}"
	case "pathSeparator", "/":
		return "write / or \\\\"
	case "__dirname":
		return "it belongs to a bundle; workbench add FILE.mcpb adds the whole bundle"
	}
	for _, prefix := range []string{"secret.", "secrets.", "user_config."} {
		if strings.HasPrefix(inside, prefix) {
			return "write ${secret:NAME}, which workbench secret set NAME keeps"
		}
	}
	for _, shell := range []string{":=", ":?", ":+"} {
		if name, _, ok := strings.Cut(inside, shell); ok && isVariable(name) {
			return fmt.Sprintf("write ${%s} or ${%s:-default}", name, name)
		}
	}
	return ""
}

func isVariable(name string) bool {
	for i, r := range name {
		letter := r == '_' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
