package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/sandbox"
	"github.com/mcp-workbench/workbench/internal/syserr"
)

// command is a Spec that was checked, with the file to run.
type command struct {
	path string
	argv []string
	env  []string // never nil
	dir  string   // absolute
	name string   // Spec.Command, for errors

	rules *sandbox.Rules // nil if there are none
}

// resolve finds what the Spec means. It looks before starting because the system's own answer to a missing command, a
// missing interpreter and a missing directory is the same.
func resolve(spec Spec) (command, error) {
	cmd := command{
		argv: append([]string{spec.Command}, spec.Args...),
		env:  append([]string{}, spec.Env...),
		name: spec.Command,

		rules: spec.Sandbox,
	}
	if err := checkText(spec); err != nil {
		return cmd, &StartError{spec.Command, err.Error(), fs.ErrInvalid}
	}
	dir, err := spec.directory()
	if err != nil {
		return cmd, err
	}
	cmd.dir = dir
	if info, err := os.Stat(dir); err != nil {
		return cmd, &StartError{spec.Command, "working directory " + dir + ": " + cause(err).Error() + `; make that folder, or correct "cwd"`, err}
	} else if !info.IsDir() {
		return cmd, &StartError{spec.Command, "working directory " + dir + " is not a directory; correct \"cwd\"", fs.ErrInvalid}
	}
	if very := veryFile(spec.Command); spec.Again && very != spec.Command {
		cmd.path = very
		return cmd, nil
	}
	cmd.path, err = cmd.find()
	return cmd, err
}

// directory returns the working directory, absolute. Every error is a *StartError.
func (s Spec) directory() (string, error) {
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return "", &StartError{s.Command, "working directory: " + err.Error() + `; the folder that workbench was started in is gone, or cannot be read: set "cwd", or start workbench elsewhere`, err}
	}
	return dir, nil
}

// checkText refuses what the system cannot be handed.
func checkText(spec Spec) error {
	if spec.Command == "" {
		return errors.New("no command is given")
	}
	for _, s := range append([]string{spec.Command, spec.Dir}, spec.Args...) {
		if strings.ContainsRune(s, 0) {
			return errors.New("a NUL byte in the command, its arguments or its directory")
		}
	}
	for _, kv := range spec.Env {
		key, _, found := strings.Cut(kv, "=")
		if !found || key == "" || strings.ContainsRune(kv, 0) {
			return fmt.Errorf("environment entry %q is not KEY=VALUE", key) // the value may be a secret
		}
	}
	return nil
}

// isPath reports whether the command is a path, and not a name that is looked up.
func (c command) isPath() bool { return filepath.Base(c.name) != c.name }

// places are the files that the command may mean: the first that is a program is run.
func (c command) places() []string {
	absolute := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(c.dir, path)
	}
	if c.isPath() {
		return []string{absolute(c.name)}
	}
	var places []string
	list, _ := Getenv(c.env, "PATH")
	for _, dir := range filepath.SplitList(list) { // "" and "." are the working directory, as they are for execvp
		places = append(places, filepath.Join(absolute(dir), c.name))
	}
	return places
}

// find returns the file that the command names.
func (c command) find() (string, error) {
	if program, _, more := strings.Cut(c.name, " "); more && !strings.ContainsAny(program, `/\\`) && c.isPath() {
		return "", &StartError{c.name, lineReason(c.name), exec.ErrNotFound}
	}
	places := c.places()
	if c.isPath() {
		path := places[0]
		found, err := executable(path, c.env)
		switch {
		case err == nil:
			return found, nil
		case errors.Is(err, fs.ErrPermission):
			return "", &StartError{c.name, path + " is not executable; give the right file, or make it so with chmod +x", err}
		}
		return "", &StartError{c.name, path + ": " + cause(err).Error(), err}
	}

	list, set := Getenv(c.env, "PATH")
	if !set {
		return "", &StartError{c.name, "not found: its environment has no PATH; give one, or the full path of the command", exec.ErrNotFound}
	}
	var refused error
	for _, path := range places {
		found, err := executable(path, c.env)
		if err == nil {
			return found, nil
		}
		if errors.Is(err, fs.ErrPermission) && refused == nil {
			refused = &StartError{c.name, path + " is not executable; make it so with chmod +x", err}
		}
	}
	if refused != nil {
		return "", refused
	}
	hint := "install it, or give its full path"
	if strings.ContainsAny(c.name, " \t") {
		return "", &StartError{c.name, lineReason(c.name), exec.ErrNotFound}
	}
	return "", &StartError{c.name, fmt.Sprintf("not found in PATH (%s); %s", folders(list), hint), exec.ErrNotFound}
}

// lineReason says how a command is written that stands in one string with its arguments.
func lineReason(line string) string {
	words := strings.Fields(line)
	if len(words) < 2 {
		return "not found: there are blanks in the name of the program"
	}
	args, _ := json.Marshal(words[1:]) // words can always be encoded
	return fmt.Sprintf(`not found: arguments belong in args, not in the command: "command": %q, "args": %s`, words[0], args)
}

// someFolders is how many folders of a PATH an error names: all of the short one that desktops start programs with, and
// enough to know a long one by.
const someFolders = 5

// folders names the first folders of a PATH.
func folders(list string) string {
	var names []string
	more := 0
	for i, dir := range filepath.SplitList(list) {
		switch {
		case slices.Contains(filepath.SplitList(list)[:i], dir): // a second time adds nothing
		case len(names) < someFolders:
			names = append(names, dir)
		default:
			more++
		}
	}
	text := strings.Join(names, string(filepath.ListSeparator))
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// explain turns the system's refusal to run the command into a *StartError.
func (c command) explain(err error) error {
	if started, ok := errors.AsType[*StartError](err); ok {
		return started // it was not about the command
	}
	reason := c.path + ": " + cause(err).Error()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = c.path + ": the interpreter named in its first line, or its loader, does not exist"
		if why := scriptFault(c.path); why != "" {
			reason = c.path + ": " + why
		}
	case syserr.IsNoProgram(err):
		reason = c.path + ": not a program for this machine; " + scriptHelp
	}
	if why := refusal(err); why != "" {
		reason = why
	}
	return &StartError{c.name, reason + lacking(err), err}
}

// cause strips the operation and path that os puts before an error, where the text around has them already.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
