package child

import (
	"runtime"

	"github.com/mcp-workbench/workbench/internal/sandbox"
)

// confined has do start the process on a thread that has taken the rules on itself, and that lives as long as the
// process: the system sends the process a signal when the thread ends that started it (prctl(2), PR_SET_PDEATHSIG). No
// thread is ever made of that thread, because the runtime makes none of one that is locked to its goroutine.
func (t *tree) confined(rules *sandbox.Rules, do func() error) error {
	if rules == nil {
		return do()
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: the thread ends with the goroutine
		err := rules.Enter()
		if err == nil {
			err = do()
		}
		started <- err
		if err == nil {
			<-t.gone
		}
	}()
	return <-started
}

// wrapped returns what is run for a command: itself.
func wrapped(cmd command) (path string, argv []string) { return cmd.path, cmd.argv }
