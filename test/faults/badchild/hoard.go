package main

import (
	"fmt"
	"strconv"
	"strings"
)

// hoards are the faults of a server that has whoever speaks to it keep as much as it can. Their arguments are how many
// things it gives, and how many bytes each has.
func hoards() map[string]mode {
	return map[string]mode{
		"askids":  {fault: askIDs},
		"notices": {fault: notices},
		"bulk":    {fault: bulk},
		"pages":   {take: pages},
		"tasks":   {fault: task},
		"boast":   {take: boast},
	}
}

func (s *server) number(i int) int {
	n, _ := strconv.Atoi(s.arg(i))
	return n
}

// long is a text of the length that an argument says, which begins with a number.
func (s *server) long(n, i int) string {
	text := strconv.Itoa(n) + "-"
	return text + strings.Repeat("x", max(0, s.number(i)-len(text)))
}

// askIDs asks by requests with long ids.
func askIDs(s *server, r request) {
	for i := range s.number(0) {
		s.line(`{"jsonrpc":"2.0","id":"` + s.long(i, 1) + `","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
	}
	s.text(r, "done")
}

// notices sends notifications that the protocol does not know.
func notices(s *server, r request) {
	for i := range s.number(0) {
		s.notify("notifications/badchild", `{"data":"`+s.long(i, 1)+`"}`)
	}
	s.text(r, "done")
}

// bulk answers with a long text.
func bulk(s *server, r request) {
	s.result(r, `{"content":[{"type":"text","text":"`+s.long(0, 1)+`"}]}`)
}

// pages has pages of tools of 10 kB.
func pages(s *server, r request) bool {
	if r.Method != "tools/list" {
		return false
	}
	at, _ := strconv.Atoi(r.Params.Cursor)
	var list strings.Builder
	list.WriteString(strings.Join(tools(), ","))
	for i := 0; list.Len() < s.number(1); i++ {
		fmt.Fprintf(&list, `,{"name":"tool%d_%d","description":"%s","inputSchema":{"type":"object"}}`, at, i, strings.Repeat("x", 10_000))
	}
	next := ""
	if at+1 < s.number(0) {
		next = fmt.Sprintf(`,"nextCursor":"%d"`, at+1)
	}
	s.result(r, `{"tools":[`+list.String()+`]`+next+`}`)
	return true
}

// task answers with a task of a long id.
func task(s *server, r request) {
	s.result(r, fmt.Sprintf(`{"task":{"taskId":"%s","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}}`, s.long(int(s.listed.Add(1)), 1)))
}

// boast has long instructions.
func boast(s *server, r request) bool {
	if r.Method != "initialize" {
		return false
	}
	s.result(r, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"badchild","version":"1"},"instructions":%q}`, r.Params.Version, s.long(0, 1)))
	return true
}
