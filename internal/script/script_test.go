package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/script"
)

const asScript = "WORKBENCH_TEST_AS_SCRIPT"

func TestMain(m *testing.M) {
	if most, err := time.ParseDuration(os.Getenv(asScript)); err == nil {
		os.Exit(script.Serve(os.Stdin, os.Stdout, most))
	}
	os.Exit(m.Run())
}

// process is this test binary as the process of a script.
type process struct {
	cmd *exec.Cmd
	io.Reader
	io.WriteCloser
	once sync.Once
}

func (p *process) End() (int, error) {
	p.once.Do(func() {
		_ = p.Close()
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p.cmd.ProcessState.ExitCode(), nil
}

// host runs scripts that may use so much of the processor, which is ten times slower with -race.
func host(most time.Duration) *script.Host {
	return &script.Host{Start: func() (script.Process, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		p := &process{cmd: exec.Command(self)}
		p.cmd.Env = []string{asScript + "=" + most.String(), "GORACE=atexit_sleep_ms=0"}
		in, err1 := p.cmd.StdinPipe()
		out, err2 := p.cmd.StdoutPipe()
		p.WriteCloser, p.Reader = in, out
		return p, errors.Join(err1, err2, p.cmd.Start())
	}}
}

// echo answers calls with what they say.
func echo(_ context.Context, r script.Request) (json.RawMessage, error) {
	if r.Tool == "fail" {
		return nil, errors.New("it failed")
	}
	if r.Tool == "silent" {
		return nil, errors.New("")
	}
	return json.Marshal(map[string]any{"who": r.Toolbox + "/" + r.Server + "/" + r.Tool, "args": r.Args})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]struct{ value, fault, console string }{
		"return 1 + 1":                  {value: "2"},
		"1 + 1":                         {value: "2"},
		"":                              {},
		"return undefined":              {},
		"return {a: [1, 'x'], b: null}": {value: `{"a":[1,"x"],"b":null}`},
		"({a: 1})":                      {value: `{"a":1}`},
		"async () => 7":                 {value: "7"},
		"async () => {\n const x = await tools.a.b.c({n: 1});\n return x.args.n;\n}": {value: "1"},
		"(async () => 8)()": {value: "8"},
		"const r = await tools.dev.git.log({n: 3}); return r":                               {value: `{"args":{"n":3},"who":"dev/git/log"}`},
		"return (await tools['my-box']['s.1']['do-it']()).who":                              {value: `"my-box/s.1/do-it"`},
		"return (await Promise.all([1,2,3].map(i => tools.a.b.c({i})))).map(r => r.args.i)": {value: "[1,2,3]"},
		"const r = await tools.a.b.c({id: 12345678901234567890n, text: '12345678901234567890', x: 0.1234567890123456789}); return [r.args.id, typeof r.args.id, r.args.text, r.args.x]": {
			value: `[12345678901234567890,"bigint","12345678901234567890",0.12345678901234568]`},
		"const r = await tools.a.b.c({ids: [9007199254740991, -9007199254740993n]}); console.log(r.args.ids[1], r); return (await tools.a.b.c(r.args)).args": {
			value: `{"ids":[9007199254740991,-9007199254740993]}`, console: `-9007199254740993 {"args":{"ids":[9007199254740991,-9007199254740993]},"who":"a/b/c"}` + "\n"},
		"return (await tools.a.b.c({id: 12345678901234567890n})).args.id + 1": {fault: "TypeError"},
		"try { await tools.a.b.fail({}) } catch (e) { return e.message }":     {value: `"it failed"`},
		"await tools.a.b.fail({})": {fault: "Error: it failed"},
		"console.log('a', {b: 1}, [2]); console.error(new TypeError('x')); return 0": {value: "0", console: "a {\"b\":1} [2]\nTypeError: x\n"},
		"throw 'x'":                       {fault: "threw x"},
		"throw new RangeError('far')":     {fault: "RangeError: far"},
		"let x = ;":                       {fault: "SyntaxError"},
		"\n\nnothing.x":                   {fault: "ReferenceError"},
		"tools.a.b.c(1)":                  {fault: "takes one object"},
		"tools.a.b.c({}, 1)":              {fault: "takes one object"},
		"tools.a.b()":                     {fault: "is no tool"},
		"return Object.keys(tools)":       {fault: "tools cannot be listed in a script: workbench_open_toolbox"},
		"return {...tools.a}":             {fault: "tools.a cannot be listed"},
		"for (const t in tools.a.b) { }":  {fault: "tools.a.b cannot be listed"},
		"return 'f' in tools.a.b":         {fault: "tools.a.b cannot be listed"},
		"tools.a = 1":                     {fault: "cannot be changed"},
		"return 1n":                       {value: "1"},
		"const a = {}; a.a = a; return a": {fault: "circular"},
		"return [typeof require, typeof process, typeof std, typeof os, typeof fetch, typeof setTimeout, typeof __call, typeof __done].join()": {
			value: `"undefined,undefined,undefined,undefined,undefined,undefined,undefined,undefined"`},
		"return {m: new Map([['a', new Set([1, 'b'])], [2, null]]), p: new Map([[{}, 1]]), r: await Promise.allSettled([tools.a.b.fail({})])}": {
			value: `{"m":{"2":null,"a":[1,"b"]},"p":[[{},1]],"r":[{"status":"rejected","reason":"Error: it failed"}]}`},
		"return (await tools.a.b.c({of: new Set([1]), e: Object.assign(new Error('x'), {code: 5})})).args": {value: `{"of":[1],"e":{"error":"Error: x","code":5}}`},
		"return [1, 2].map(async i => (await tools.a.b.c({i})).args.i)":                                    {value: "[1,2]"},
		"return {all: [tools.a.b.c({})]}":                                                                  {fault: "await Promise.all"},
		"return await tools.a.b.c({n: tools.a.b.c({})})":                                                   {fault: "await it"},
		"await Promise.any([tools.a.b.fail({}), tools.a.b.fail({})])":                                      {fault: "it failed; Error: it failed"},
		"await tools.a.b.silent({})":                                                                       {fault: "Error"},
		"try { await tools.a.b.silent({}) } catch (e) { return [e instanceof SyntaxError, e.message] }":    {value: `[false,""]`},
		"console.table([{a: 1}]); console.log(tools, tools.a); return 1":                                   {value: "1", console: "[{\"a\":1}]\nsomething that cannot be shown something that cannot be shown\n"},
		"return Object.groupBy([1, 2, 3], x => x % 2 ? 'odd' : 'even')":                                    {value: `{"odd":[1,3],"even":[2]}`},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			got, err := host(time.Minute).Run(t.Context(), code, echo)
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Value) != want.value || !strings.Contains(got.Fault, want.fault) || (got.Fault == "") != (want.fault == "") || got.Console != want.console {
				t.Errorf("got %s, fault %q, console %q, want %+v", got.Value, got.Fault, got.Console, want)
			}
		})
	}
}

// calls is how many calls a script asked for.
func calls(o *script.Outcome) int { return len(o.Answered) + len(o.Cut) + len(o.Left) }

// Nothing that a script does takes more than its share, and each script ends.
func TestAttacks(t *testing.T) {
	t.Parallel()
	const usedUp, memory = "used up its processor time", "out of memory"
	for name, attack := range map[string]struct {
		code string
		want string // in the fault, one of several; "" if the script is to end well
	}{
		"loop":                  {"for (;;) {}", usedUp},
		"loop that catches":     {"for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }", usedUp},
		"regular expression":    {"return /^(a+)+$/.test('a'.repeat(60) + 'b')", usedUp},
		"sort":                  {"return Array.from({length: 3e5}, (_, i) => i).sort(() => { for (let i = 0; i < 1e6; i++); return Math.random() - .5 }).length", usedUp},
		"recursion":             {"const f = () => 1 + f(); return f()", "stack"},
		"recursion of getters":  {"const o = {get x() { return this.x }}; return o.x", "stack"},
		"string":                {"let s = 'x'; for (;;) s += s", memory + "|too long"},
		"padded string":         {"return 'x'.padEnd(2 ** 30 - 1).length", memory},
		"array":                 {"const a = []; for (;;) a.push(new Array(1000).fill({}))", memory},
		"typed array":           {"return new Uint8Array(2 ** 31).length", memory + "|invalid array"},
		"sparse array":          {"return Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)", usedUp},
		"big integer":           {"let x = 3n; for (;;) x = x * x", usedUp + "|" + memory + "|BigInt"},
		"proxy":                 {"const p = new Proxy({}, {get: () => p, has: () => { for (;;) {} }}); return 'x' in p", usedUp},
		"proxy without end":     {"let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); return p.x", memory + "|stack|" + usedUp},
		"promise without end":   {"await new Promise(() => {})", "nothing settles"},
		"thenable":              {"await {then() {}}", "nothing settles"},
		"promises in a circle":  {"const f = () => Promise.resolve().then(f); await f()", usedUp + "|" + memory},
		"generator":             {"function* g() { for (;;) yield 1 } return [...g()].length", memory + "|" + usedUp},
		"deep JSON":             {"return JSON.parse('['.repeat(1e6))", "stack|JSON|SyntaxError"},
		"deep value":            {"let v = []; for (let i = 0; i < 2e5; i++) v = [v]; return v", "stack|" + memory},
		"large value":           {"return 'x'.repeat(6e6)", "return at most"},
		"toJSON":                {"return {toJSON() { for (;;) {} }}", usedUp},
		"error without end":     {"throw {toString() { for (;;) {} }, toJSON() { for (;;) {} }}", usedUp},
		"stack of an error":     {"const e = new Error('x'); Object.defineProperty(e, 'stack', {get() { throw 1 }}); throw e", "cannot be shown"},
		"prototypes":            {"Object.prototype.then = function (f) { f(13) }; Array.prototype.map = () => 'mine'; JSON.parse = () => 'mine'; Map.prototype.get = () => [() => 0, () => 0]; Promise.prototype.then = undefined; Object.prototype.toJSON = () => 'mine'; return 1", "|not a function"},
		"constructor":           {"return tools.constructor.constructor('return typeof process')()", "is no tool|not a function"},
		"function":              {"return Function('return this')() === globalThis && Object.keys(globalThis).includes('__call')", ""},
		"import":                {"return await import('os')", "module|import"},
		"import std":            {"return await import('std')", "module|import"},
		"wait":                  {"return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", "Error"},
		"console":               {"for (let i = 0; i < 2e4; i++) console.log('x'.repeat(4000)); return 1", "|" + usedUp},
		"calls":                 {"return await Promise.all(Array.from({length: 2e4}, () => tools.a.b.c({})))", "100 calls|out of memory"},
		"calls caught":          {"for (;;) { try { await tools.a.b.c({}) } catch {} }", usedUp},
		"large arguments":       {"return await tools.a.b.c({x: 'x'.repeat(6e6)})", "arguments may have"},
		"arguments without end": {"return await tools.a.b.c({toJSON() { for (;;) {} }})", usedUp},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := time.Minute
			if strings.HasPrefix(attack.want, usedUp) {
				most = 150 * time.Millisecond
			} else if raceEnabled { // the engine is twenty times slower
				most, attack.want = 150*time.Millisecond, attack.want+"|"+usedUp
			}
			got, err := host(most).Run(t.Context(), attack.code, echo)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("value %.60s, fault %.120q, %d bytes of console, %d calls", got.Value, got.Fault, len(got.Console), calls(got))
			ok := false
			for _, want := range strings.Split(attack.want, "|") {
				ok = ok || strings.Contains(got.Fault, want) && (want != "" || got.Fault == "")
			}
			if !ok {
				t.Errorf("got %.100s, fault %q, want one of %q", got.Value, got.Fault, attack.want)
			}
			if len(got.Console) > script.MaxConsole+100 || calls(got) > script.MaxCalls {
				t.Errorf("got %d bytes of console and %d calls", len(got.Console), calls(got))
			}
		})
	}
}

// Ten calls are under way at a time, and those that are not wanted any more are cancelled.
func TestAtATime(t *testing.T) {
	var now, most atomic.Int64
	_, err := host(time.Minute).Run(t.Context(), "await Promise.all(Array.from({length: 60}, (_, i) => tools.a.b.c({i})))", func(ctx context.Context, r script.Request) (json.RawMessage, error) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		return echo(ctx, r)
	})
	if err != nil || most.Load() > script.AtATime || most.Load() < 2 {
		t.Errorf("got %v, %d at a time, want up to %d", err, most.Load(), script.AtATime)
	}
}

// A script whose client is gone ends, with its calls.
func TestCancelled(t *testing.T) {
	for name, code := range map[string]string{"in a call": "await tools.a.b.c({})", "in a loop": "console.log(1); tools.a.b.c({}); await null; for (;;) {}"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			ended := false
			_, err := host(time.Minute).Run(ctx, code, func(ctx context.Context, _ script.Request) (json.RawMessage, error) {
				cancel()
				<-ctx.Done()
				ended = true
				return nil, ctx.Err()
			})
			if !ended {
				t.Errorf("got %v, and the call was not cancelled", err)
			}
		})
	}
	got, err := host(time.Minute).Run(t.Context(), "tools.a.b.c({}); await null; return 1", func(ctx context.Context, _ script.Request) (json.RawMessage, error) {
		<-ctx.Done() // nobody waits for it
		return nil, ctx.Err()
	})
	if err != nil || string(got.Value) != "1" {
		t.Errorf("got %+v, %v, want 1", got, err)
	}
}

// Calls that a script does not wait for are cut off when it ends, or not made. Which they are is said.
func TestUnawaited(t *testing.T) {
	for name, end := range map[string]string{"returns": "return 'done'", "fails": "throw 'late'", "loops": "for (;;) {}"} {
		most := time.Minute
		if name == "loops" {
			most = 150 * time.Millisecond
		}
		code := "await tools.a.b.echo({}); await tools.a.b.fail({}).catch(() => 0); for (let i = 0; i < 12; i++) tools.a.b.hang({}); " + end
		var made atomic.Int64
		got, err := host(most).Run(t.Context(), code, func(ctx context.Context, r script.Request) (json.RawMessage, error) {
			if r.Tool == "hang" {
				made.Add(1)
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return echo(ctx, r)
		})
		if err != nil || strings.Join(got.Answered, " ") != "a/b/echo a/b/fail" || len(got.Cut) > script.AtATime ||
			len(got.Cut) != int(made.Load()) || len(got.Cut)+len(got.Left) != 12 {
			t.Errorf("%s: got %+v, %v, want two answered, %d cut off and the others not made", name, got, err, made.Load())
		}
	}
}

// A process that breaks the rules harms nobody but itself.
func TestBadProcess(t *testing.T) {
	for name, said := range map[string]string{
		"nothing":   "",
		"no JSON":   "x\n",
		"too long":  strings.Repeat("x", script.MaxMessage+10),
		"too often": strings.Repeat(`{"call":1,"toolbox":"a"}`+"\n", 500),
	} {
		h := &script.Host{Start: func() (script.Process, error) { return &fake{Reader: strings.NewReader(said)}, nil }}
		got, err := h.Run(t.Context(), "1", echo)
		if err != nil || got.Fault == "" || calls(got) > script.MaxCalls {
			t.Errorf("%s: got %+v, %v, want a fault", name, got, err)
		}
	}
	h := &script.Host{Start: func() (script.Process, error) { return nil, fmt.Errorf("no room") }}
	if _, err := h.Run(t.Context(), "1", echo); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("got %v", err)
	}
}

type fake struct{ io.Reader }

func (*fake) Write(b []byte) (int, error) { return len(b), nil }
func (*fake) End() (int, error)           { return 0, nil }
