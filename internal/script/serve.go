package script

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"modernc.org/quickjs"

	"github.com/mcp-workbench/workbench/internal/wire"
)

//go:embed prelude.js
var prelude string

// Serve runs the script that it reads for at most so long on the processor, and returns the exit status of the process,
// whose only work that is.
func Serve(in io.Reader, out io.Writer, most time.Duration) int {
	e := &engine{most: most, out: wire.NewEncoder(out), answers: make(chan toScript)}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, MaxMessage+1<<10)
	var first toScript
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &first) != nil {
		return 1
	}
	go func() {
		for lines.Scan() {
			var a toScript
			if json.Unmarshal(lines.Bytes(), &a) == nil {
				e.answers <- a
			}
		}
		os.Exit(1) // nobody is there any more
	}()
	if err := e.run(first.Code); err != nil {
		e.end(false, err.Error())
	}
	return 0
}

// engine is one script.
type engine struct {
	out     *json.Encoder
	vm      *quickjs.VM
	answers chan toScript
	most    time.Duration
	over    atomic.Bool // its time is used up
	open    int         // calls that are not answered
	calls   int
	logged  int // bytes of the console
	done    bool
}

// end says how the script ended, once.
func (e *engine) end(ok bool, said string) {
	if e.done {
		return
	}
	e.done = true
	if !ok && e.over.Load() {
		said = errTime.Error()
	}
	last := fromScript{Done: true, Fault: said}
	if ok {
		last.Value, last.Fault = json.RawMessage(said), ""
		if len(said) > MaxMessage/2 {
			last.Value, last.Fault = nil, fmt.Sprintf("the value has %d bytes as JSON; return at most %d", len(said), MaxMessage/2)
		}
	}
	_ = e.out.Encode(last) // nobody who does not read it misses it
}

var (
	errTime  = errors.New("the script used up its processor time")
	errCalls = fmt.Errorf("a script makes at most %d calls", MaxCalls)
	errStuck = errors.New("the script waits for a promise that nothing settles")
)

// run has the script run to its end.
func (e *engine) run(code string) error {
	vm, err := quickjs.NewVM()
	if err != nil {
		return err
	}
	e.vm = vm
	vm.SetMemoryLimit(MaxMemory)
	vm.SetCanBlock(false)
	go e.watch()
	if err := errors.Join(vm.RegisterHostFunc("__call", e.call), vm.RegisterHostFunc("__log", e.log),
		vm.RegisterHostFunc("__done", func(args []any) (any, error) {
			ok, _ := args[0].(bool)
			said, _ := args[1].(string)
			e.end(ok, said)
			return nil, nil
		})); err != nil {
		return err
	}
	own, err := vm.EvalValue(prelude, quickjs.EvalGlobal)
	if err != nil {
		return err
	}
	run, err := e.member(own, "run")
	if err != nil {
		return err
	}
	settle, err := e.member(own, "settle")
	if err != nil {
		return err
	}
	if _, err := run.Call(quickjs.UndefinedValue, code); err != nil {
		return err
	}
	for !e.done {
		_, err := vm.ExecutePendingJobs()
		switch {
		case e.done:
			return nil
		case e.over.Load():
			return errTime
		case err != nil:
			continue // there may be more to do
		case e.open == 0:
			return errStuck
		}
		a := <-e.answers
		e.open--
		ok, said := a.Fault == nil, string(a.Value)
		if !ok {
			said = *a.Fault
		}
		if _, err := settle.Call(quickjs.UndefinedValue, a.Call, ok, said); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) member(of quickjs.Value, name string) (quickjs.Value, error) {
	atom, err := e.vm.NewAtom(name)
	if err != nil {
		return quickjs.Value{}, err
	}
	return of.GetPropertyValue(atom)
}

// call takes a call that the script makes.
func (e *engine) call(args []any) (any, error) {
	if len(args) != 5 {
		return nil, errors.New("want five arguments")
	}
	var q fromScript
	var text string
	q.Call, _ = args[0].(int)
	q.Toolbox, _ = args[1].(string)
	q.Server, _ = args[2].(string)
	q.Tool, _ = args[3].(string)
	text, _ = args[4].(string)
	if len(text)+len(q.Toolbox)+len(q.Server)+len(q.Tool) > MaxMessage/2 {
		return nil, fmt.Errorf("arguments may have %d bytes", MaxMessage/2)
	}
	q.Args = json.RawMessage(text)
	if e.calls == MaxCalls {
		return nil, errCalls
	}
	e.calls++
	e.open++
	return nil, e.out.Encode(q)
}

// log takes a line of the console.
func (e *engine) log(args []any) (any, error) {
	text, _ := args[0].(string)
	if e.logged > MaxConsole {
		return nil, nil
	}
	e.logged += len(text) + 1
	return nil, e.out.Encode(fromScript{Log: &text})
}

// watch ends the script when its time is used up, and the process if the script does not heed that.
func (e *engine) watch() {
	began := processorTime()
	for processorTime()-began < e.most {
		time.Sleep(20 * time.Millisecond)
	}
	e.over.Store(true)
	for range 25 { // the engine forgets an interruption that comes between two pieces of work
		e.vm.Interrupt()
		time.Sleep(20 * time.Millisecond)
	}
	os.Exit(outOfTime)
}
