package definition_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// Looking for conditions that never hold costs little, however long their lists are.
func TestFaultG82_LongLists(t *testing.T) {
	var list, steps []string
	for i := range 4900 {
		list = append(list, fmt.Sprint(i))
	}
	for i := range 36 {
		steps = append(steps, fmt.Sprintf(`{"id":"step%d","title":"t","prompt":"p","runCondition":{"and":[{"var":"a","in":[%s]},{"var":"a","equals":"zz"}]}}`, i, strings.Join(list, ",")))
	}
	text := `{"id":"abc","name":"n","description":"d","version":"1.0.0","steps":[` + strings.Join(steps, ",") + `]}`
	runtime.LockOSThread() // whose time no load adds to
	defer runtime.UnlockOSThread()
	began := processorTime(t)
	if _, err := definition.Parse("a.json", []byte(text)); err != nil {
		t.Fatal(err)
	}
	if took := processorTime(t) - began; took > 10*time.Second { // 25 s of the processor, when each list was compared with itself
		t.Errorf("one file took %v of the processor", took)
	}
}

// processorTime is what the thread has had of the processor.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
