package child

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"github.com/mcp-workbench/workbench/internal/sandbox"
)

// launched returns the command that runs this program again, as argv says, to look for a command that is distant and to
// become it. If a file is not had from its disk, that process waits for it alone, and neither we nor the guard, which
// would wait until the process runs its program (vfork(2)) and could neither end nor start another meanwhile.
func launched(argv []string, spec Spec) (command, error) {
	if err := checkText(spec); err != nil {
		return command{}, err
	}
	dir, err := spec.directory()
	if err != nil {
		return command{}, err
	}
	rules, err := json.Marshal(spec.Sandbox)
	if err != nil {
		return command{}, err
	}
	return command{
		path: veryFile(argv[0]),
		argv: slices.Concat(argv, []string{dir, string(rules), strconv.FormatBool(spec.Again), spec.Command}, spec.Args),
		env:  append([]string{}, spec.Env...),
		dir:  "/",
		name: spec.Command,
	}, nil
}

// RunLaunched is the whole of a process that is to become a distant command, of which its arguments tell. It is run on
// the first thread: what the system sends to a process when its parent ends, it sends to the thread that ran the program
// (prctl(2), PR_SET_PDEATHSIG). It returns its exit status where that fails, which it has said on standard error.
func RunLaunched(args []string) int {
	const notRun = 127 // as a shell has it
	runtime.LockOSThread()
	fmt.Fprintln(os.Stderr, become(args[0], args[1], args[2] == "true", args[3:]))
	return notRun
}

// become returns what keeps it from running the command.
func become(dir, rules string, again bool, argv []string) error {
	var confined *sandbox.Rules
	if err := json.Unmarshal([]byte(rules), &confined); err != nil {
		return err
	}
	cmd, err := resolve(Spec{Command: argv[0], Args: argv[1:], Env: os.Environ(), Dir: dir, Again: again})
	if err != nil {
		return err
	}
	if err := os.Chdir(cmd.dir); err != nil {
		return &StartError{cmd.name, "working directory " + dir + ": " + cause(err).Error(), err}
	}
	if confined != nil {
		if err := confined.Enter(); err != nil {
			return err
		}
	}
	return cmd.explain(syscall.Exec(cmd.path, cmd.argv, cmd.env))
}
