package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// calls are the faults of a call.
func calls() map[string]mode {
	return map[string]mode{
		"crash":      {fault: crash},
		"ledger":     {start: func(s *server) { enter(s, ".starts", "s") }, take: enterEcho, fault: crash},
		"partial":    {fault: partial},
		"grandchild": {fault: func(s *server, r request) { kin(); crash(s, r) }},
		"hang":       {fault: func(*server, request) {}},
		"deaf":       {fault: func(s *server, _ request) { s.turn.Lock(); forever() }}, // it says nothing from then on
		"progress":   {fault: progress},
		"late":       {fault: late},
		"alloc":      {fault: alloc},
		"any":        {fault: anyOf},

		"junk":      {fault: around("DEBUG: looking up\n{\"level\":\"info\"}\n[]\n\"x\"\n", "{not json\n")},
		"unknownid": {fault: around(`{"jsonrpc":"2.0","id":987654321,"result":{}}`+"\n"+`{"jsonrpc":"2.0","id":"x","result":{}}`+"\n", "")},
		"badver":    {fault: instead(`{"jsonrpc":"1.0","id":%,"result":{"content":[]}}`)},
		"nover":     {fault: instead(`{"id":%,"result":{"content":[]}}`)},
		"caseid":    {fault: instead(`{"jsonrpc":"2.0","ID":%,"id":%,"result":{"content":[]}}`)},
		"twice":     {fault: instead(`{"jsonrpc":"2.0","id":%,"result":{"content":[]},"result":{}}`)},
		"both":      {fault: instead(`{"jsonrpc":"2.0","id":%,"result":{"content":[]},"error":{"code":1,"message":"x"}}`)},
		"twoinone":  {fault: instead(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}{"jsonrpc":"2.0","id":%,"result":{"content":[]}}`)},
		"calls":     {fault: instead(`{"jsonrpc":"2.0","id":%,"method":"x","result":{"content":[]}}`)},
		"nulls":     {fault: instead(`{"jsonrpc":"2.0","id":%,"method":null,"params":null,"result":{"content":[{"type":"text","text":"done"}]},"error":null}`)},
		"neither":   {fault: instead(`{"jsonrpc":"2.0","id":%}`)},
		"onlyID":    {fault: instead(`{"jsonrpc":"2.0","ID":%,"Result":{"content":[]}}`)},
		"nobodys":   {fault: instead(`{"jsonrpc":"2.0","id":"%x","result":{"content":[]}}`)},
		"stringid":  {fault: instead(`{"jsonrpc":"2.0","id":"%","result":{"content":[]}}`)},
		"badutf8":   {fault: instead(`{"jsonrpc":"2.0","id":%,"result":{"content":[{"type":"text","text":"` + "\xff\xfe" + `"}]}}`)},
		"batch":     {fault: instead(`[{"jsonrpc":"2.0","id":%,"result":{"content":[]}}]`)},
		"dup":       {fault: dup},

		"flood":   {fault: flood},
		"endless": {fault: endless},
		"big":     {fault: big},
		"stderr":  {fault: stderrFlood},
		"storm":   {fault: storm},

		"closeout": {fault: func(*server, request) { _ = os.Stdout.Close() }},
		"closein":  {take: endInput(func() { _ = os.Stdin.Close() })},
		"noread":   {take: endInput(func() {})},
		"sip":      {take: endInput(sip)},
	}
}

// enterEcho writes down what the tool "echo" is called with.
func enterEcho(s *server, r request) bool {
	if r.Params.Name == "echo" {
		enter(s, "", string(r.Params.Arguments)+"\n")
	}
	return false
}

// enter appends text to the file whose name, without suffix, the server was given as argument.
func enter(s *server, suffix, text string) {
	ledger, err := os.OpenFile(s.arg(0)+suffix, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = ledger.WriteString(text)
		_ = ledger.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "badchild:", err)
		os.Exit(1)
	}
}

func partial(s *server, r request) {
	s.write(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":{"content":[{"type":"te`)
	os.Exit(9)
}

// progress goes on for ever.
func progress(s *server, r request) {
	for n := 1; ; n++ {
		s.notify("notifications/progress", fmt.Sprintf(`{"progressToken":%s,"progress":%d}`, r.Params.Meta.Token, n))
		time.Sleep(50 * time.Millisecond)
	}
}

// late answers when there is a file of the name that it was given as argument.
func late(s *server, r request) {
	waitFor(s.arg(0))
	s.text(r, "late")
}

// alloc takes memory until there is none.
func alloc(s *server, r request) {
	var all [][]byte
	for len(all) < 10<<10 {
		all = append(all, bytes.Repeat([]byte{1}, 1<<20))
	}
	s.text(r, fmt.Sprint(len(all)))
}

// anyOf is the fault of the call that the argument "fault" names.
func anyOf(s *server, r request) {
	var named struct{ Fault string }
	if err := json.Unmarshal(r.Params.Arguments, &named); err != nil || calls()[named.Fault].fault == nil {
		s.refuse(r, -32602, "no such fault: "+named.Fault)
		return
	}
	calls()[named.Fault].fault(s, r)
}

// around answers well, but between other text.
func around(before, after string) func(*server, request) {
	return func(s *server, r request) {
		s.write(before)
		s.text(r, "done")
		s.write(after)
	}
}

// instead answers with a line in which % is the id of the request.
func instead(line string) func(*server, request) {
	return func(s *server, r request) { s.line(strings.ReplaceAll(line, "%", string(r.ID))) }
}

func dup(s *server, r request) {
	s.text(r, "first")
	s.text(r, "second")
}

// flood sends 200,000 notifications before its reply.
func flood(s *server, r request) {
	line := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + strings.Repeat("x", 100) + `"}}` + "\n"
	block := strings.Repeat(line, 100)
	for range 2000 {
		s.write(block)
	}
	s.text(r, "done")
}

// endless writes a line that does not end.
func endless(s *server, _ request) {
	block := strings.Repeat("x", 64<<10)
	for {
		s.write(block)
	}
}

// big answers with a line of 100 MB.
func big(s *server, r request) {
	s.turn.Lock()
	defer s.turn.Unlock()
	fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, r.ID)
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range 100 {
		_, _ = os.Stdout.Write(block)
	}
	fmt.Fprint(os.Stdout, `"}]}}`+"\n")
}

// stderrFlood writes 100 MB to standard error, or as many as the first argument says.
func stderrFlood(s *server, r request) {
	block := bytes.Repeat([]byte(strings.Repeat("x", 99)+"\n"), 10<<10)
	for range cmp.Or(s.number(0), 100) {
		_, _ = os.Stderr.Write(block)
	}
	s.text(r, "done")
}

// storm says 10,000 times that the tools have changed.
func storm(s *server, r request) {
	for range 10_000 {
		s.line(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	}
	s.text(r, "done")
}

// endInput reads nothing more after a call of the tool "fault", which it answers, and lives on after it has done how.
func endInput(how func()) func(*server, request) bool {
	return func(s *server, r request) bool {
		if r.Params.Name != "fault" {
			return false
		}
		s.text(r, "done")
		how()
		forever()
		return true
	}
}

// sip reads a byte a millisecond until there is no more.
func sip() {
	var b [1]byte
	for {
		if _, err := os.Stdin.Read(b[:]); err != nil {
			os.Exit(0)
		}
		time.Sleep(time.Millisecond)
	}
}
