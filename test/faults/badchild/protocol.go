package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// protocols are the faults of a server that speaks the protocol wrongly from the start.
func protocols() map[string]mode {
	return map[string]mode{
		"hanginit": {take: func(_ *server, r request) bool { return r.Method == "initialize" }},
		// It never answers the method that its argument names.
		"mute": {take: func(s *server, r request) bool { return r.Method == s.arg(0) }},
		// Its ids are those of the requests with its argument behind them.
		"ids": {take: func(s *server, r request) bool {
			if r.ID != nil {
				r.ID = append(r.ID, s.arg(0)...)
				s.answer(r)
			}
			return r.ID != nil
		}},
		"crlf":         {start: crlf},
		"legacysilent": {take: func(_ *server, r request) bool { return r.Method == "server/discover" }},
		"legacyodd":    {take: legacyOdd},
		"legacycrash":  {take: legacyCrash},
		"srvreq":       {take: modern, fault: ask},
		"cursor":       {take: cursor},
		"manytools":    {take: manyTools},
		"rugpull":      {take: rugPull},
	}
}

func crlf(s *server) {
	s.tail = "\r\n\r\n \n\t"
	s.write("\ufeff\n\n")
}

// legacyOdd answers the question of the era with an error of its own making.
func legacyOdd(s *server, r request) bool {
	if r.Method != "server/discover" {
		return false
	}
	s.refuse(r, -1, "eh?")
	return true
}

// legacyCrash ends on it, as servers do that decode methods into an enumeration.
func legacyCrash(_ *server, r request) bool {
	if r.Method == "server/discover" {
		os.Exit(5)
	}
	return false
}

// modern makes the server one of revision 2026-07-28.
func modern(s *server, r request) bool {
	switch r.Method {
	case "initialize":
		s.refuse(r, -32601, "Method not found")
	case "server/discover":
		s.result(r, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"badchild","version":"1"}}}`)
	case "tools/list":
		s.result(r, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[`+strings.Join(tools(), ",")+`]}`)
	default:
		return false
	}
	return true
}

// ask sends a request, which servers of that revision must not.
func ask(s *server, r request) {
	s.line(`{"jsonrpc":"2.0","id":"mine","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
	s.result(r, `{"resultType":"complete",`+strings.TrimPrefix(textResult("asked"), "{"))
}

// cursor never comes to the end of its tools: with the argument "same" the cursor stays, else it is new each time.
func cursor(s *server, r request) bool {
	if r.Method != "tools/list" {
		return false
	}
	next := "same"
	page := s.listed.Add(1)
	if s.arg(0) != "same" {
		next = strconv.FormatInt(page, 10)
	}
	more := tools()
	if page > 1 {
		more = []string{definition("more" + strconv.FormatInt(page, 10))}
	}
	s.result(r, fmt.Sprintf(`{"tools":[%s],"nextCursor":%q}`, strings.Join(more, ","), next))
	return true
}

// manyTools has 10,500 tools, one of them with a description of 1 MB.
func manyTools(s *server, r request) bool {
	if r.Method != "tools/list" {
		return false
	}
	all := append(tools(), fmt.Sprintf(`{"name":"long","description":%q,"inputSchema":{"type":"object"}}`, strings.Repeat("long ", 200_000)))
	for i := range 10_500 {
		all = append(all, definition("tool"+strconv.Itoa(i)))
	}
	s.result(r, `{"tools":[`+strings.Join(all, ",")+`]}`)
	return true
}

// rugPull has the tool "gone" only in its first list.
func rugPull(s *server, r request) bool {
	if r.Method != "tools/list" || s.listed.Add(1) > 1 {
		return false
	}
	s.result(r, `{"tools":[`+strings.Join(append(tools(), definition("gone")), ",")+`]}`)
	return true
}
