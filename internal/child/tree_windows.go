package child

import (
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a process in a Job Object of its own. The system puts descendants into the job and ends all of it when its
// last handle is closed, so that nothing outlives us either.
type tree struct {
	*life
	process *os.Process
	job     windows.Handle
	asked   chan Grace
	rush    chan struct{}
	once    sync.Once
}

// startTree starts the process suspended, so that it cannot start anything before it is in the job.
func startTree(cmd command, files []*os.File) (*tree, error) {
	program, line := cmd.path, "" // made from the arguments
	if isBatch(cmd.path) {
		var err error
		if program, line, err = batchLine(cmd.path, cmd.argv[1:]); err != nil {
			return nil, err
		}
	}
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	process, err := os.StartProcess(program, cmd.argv, &os.ProcAttr{
		Dir: cmd.dir, Env: cmd.env, Files: files,
		Sys: &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW, CmdLine: line},
	})
	if err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	if err := release(process.Pid, job); err != nil {
		process.Kill()
		process.Wait()
		windows.CloseHandle(job)
		return nil, err
	}
	t := &tree{
		life: newLife(), process: process, job: job,
		asked: make(chan Grace, 1), rush: make(chan struct{}),
	}
	t.pid = process.Pid
	go t.await()
	go t.run()
	return t, nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// release puts the suspended process into the job and lets it run.
func release(pid int, job windows.Handle) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	if err := windows.AssignProcessToJobObject(job, process); err != nil {
		return err
	}
	return resume(uint32(pid))
}

// resume resumes the threads of a process; os does not keep the handle of the first one.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		windows.CloseHandle(thread)
		if err != nil {
			return err
		}
	}
	if err != windows.ERROR_NO_MORE_FILES {
		return err
	}
	return nil
}

func (t *tree) await() {
	state, err := t.process.Wait()
	t.exit = Exit{Code: -1, At: time.Now()}
	if err == nil {
		t.exit.Code = state.ExitCode()
	}
	close(t.exited)
}

func (t *tree) stop(grace Grace) { t.asked <- grace }

func (t *tree) hurry() { t.once.Do(func() { close(t.rush) }) }

// run owns the tree until it is gone. A process without a window or console has nothing like SIGTERM, so that the whole
// grace follows the end of stdin.
func (t *tree) run() {
	defer close(t.gone)
	defer windows.CloseHandle(t.job)
	select {
	case <-t.exited:
	case grace := <-t.asked:
		close(t.noted) // the job knows
		select {
		case <-t.exited:
		case <-time.After(grace.EOF + grace.Term):
		case <-t.rush:
		}
	}
	windows.TerminateJobObject(t.job, 1)
	select {
	case <-t.exited:
	case <-time.After(2 * time.Second):
		t.survivors = []int{t.pid}
	}
}

// watchSurvivors returns what says that they are gone: nothing is known of it here.
func watchSurvivors([]int) func() bool { return func() bool { return true } }
