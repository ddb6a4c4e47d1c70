package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// childOptions say how the child behaves.
type childOptions struct {
	tools int    // further tools in its list, so that it is long
	mark  string // a directory that gets a file when the child starts
	mute  bool   // it never answers
	kinds bool   // it has a tool for each kind of result in each size too
	http  string // where it serves HTTP; "" for standard input and output
	list  string // the file with the result of tools/list; its tools all answer alike
}

// answer is a tool of the child, whose text takes size bytes as it stands in the message.
type answer struct {
	tool, label string
	size        int
}

// answers are the tools of the child.
func answers() []answer {
	return []answer{
		{"answer_200", "200 B", 200},
		{"answer_100k", "100 KB", 100_000},
		{"answer_1m", "1 MB", 1_000_000},
	}
}

// child is an MCP server that costs as little as one can, so that what is measured is what stands in front of it: it
// looks at no more of a call than the id and the tool, and writes an answer that was made before.
type child struct {
	options childOptions
	answers map[string][]byte // by tool, once it was called: the message from behind the id on
	list    []byte            // the result of tools/list
	mu      sync.Mutex        // held over HTTP, where calls come at once
}

func newChild(o childOptions) (*child, error) {
	c := &child{options: o, answers: make(map[string][]byte), list: toolList(o.tools)}
	if o.kinds {
		c.list = toolList(0, kindTools()...)
	}
	if o.list == "" {
		return c, nil
	}
	list, err := os.ReadFile(o.list)
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	err = json.Compact(&line, list)
	c.list = line.Bytes()
	return c, err
}

// toolList makes a result of tools/list, with entries of the length that those of real servers have.
func toolList(more int, named ...string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"tools":[`)
	for _, a := range answers() {
		fmt.Fprintf(&b, `{"name":%q,"description":"Answers with %s of text.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}}}},`, a.tool, a.label)
	}
	for _, name := range named {
		fmt.Fprintf(&b, `{"name":%q,"description":"Answers.","inputSchema":{"type":"object"}},`, name)
	}
	for i := range more {
		fmt.Fprintf(&b, `{"name":"tool_%04d","title":"Tool %d","description":"Searches the records of collection %d and returns those that match the query, newest first, with their identifiers.",`+
			`"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What to look for"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20}},"required":["query"],"additionalProperties":false},`+
			`"annotations":{"readOnlyHint":true,"openWorldHint":false}},`, i, i, i)
	}
	b.Truncate(b.Len() - 1)
	b.WriteString(`]}`)
	return b.Bytes()
}

// logText is the text of a JSON string, size bytes as written, that looks like what tools return: lines, with a quote
// here and there.
func logText(size int) string {
	const line = `2026-03-14T09:26:53Z level=info msg=\"request served\" path=/v1/items took=1.2ms\n`
	return strings.Repeat(line, size/len(line)) + strings.Repeat(".", size%len(line))
}

// serve answers what comes in until it ends.
func (c *child) serve(in io.Reader, out io.Writer) error {
	if c.options.mark != "" {
		f, err := os.CreateTemp(c.options.mark, "started-")
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriterSize(out, 64<<10)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return endOf(err)
		}
		if c.options.mute {
			continue
		}
		if err := c.answer(w, line); err != nil {
			return err
		}
		if r.Buffered() > 0 {
			continue // the answers to calls that came together leave together
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
}

// endOf is nil for the end that is no fault.
func endOf(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// resultOf makes the answer of a tool, or nil if there is none of that name.
func resultOf(tool string) []byte {
	for _, a := range answers() {
		if a.tool == tool {
			return fmt.Appendf(nil, `,"result":{"content":[{"type":"text","text":"%s"}]}}`+"\n", logText(a.size))
		}
	}
	if result, _ := kindResult(tool); result != nil {
		return fmt.Appendf(nil, `,"result":%s}`+"\n", result)
	}
	return nil
}

const replyHead = `{"jsonrpc":"2.0","id":`

func (c *child) answer(w *bufio.Writer, line []byte) error {
	const name = `"name":"`
	if at := bytes.Index(line, []byte(name)); at >= 0 {
		tool, _, _ := bytes.Cut(line[at+len(name):], []byte{'"'})
		rest, ok := c.answers[string(tool)]
		if !ok {
			rest = resultOf(string(tool))
			if c.options.list != "" && bytes.Contains(line, []byte(`"tools/call"`)) {
				rest = []byte(`,"result":{"content":[{"type":"text","text":"done"}]}}` + "\n")
				if string(tool) == hugeTool {
					rest = hugeResult()
				}
			}
			c.answers[string(tool)] = rest
		}
		if rest != nil {
			start, end := findID(line)
			w.WriteString(replyHead)
			w.Write(line[start:end])
			_, err := w.Write(rest)
			return err
		}
	}
	return c.control(w, line)
}

// findID returns where the value of the first id in a line of JSON stands; both are 0 if there is none.
func findID(line []byte) (start, end int) {
	const key = `"id":`
	start = bytes.Index(line, []byte(key)) + len(key)
	if start < len(key) {
		return 0, 0
	}
	for start < len(line) && line[start] == ' ' {
		start++
	}
	n := bytes.IndexAny(line[start:], ",} ")
	if n < 0 {
		return 0, 0
	}
	return start, start + n
}

// control answers what comes once in a conversation.
func (c *child) control(w *bufio.Writer, line []byte) error {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ ProtocolVersion, Name string }
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("read %q: %w", clip(line), err)
	}
	if m.ID == nil {
		return nil
	}
	body := ""
	switch m.Method {
	case "initialize":
		body = fmt.Sprintf(`"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`, m.Params.ProtocolVersion)
	case "tools/list":
		body = `"result":` + string(c.list)
	case "ping":
		body = `"result":{}`
	case "tools/call":
		body = fmt.Sprintf(`"error":{"code":-32602,"message":"there is no tool %s"}`, m.Params.Name)
	default:
		body = `"error":{"code":-32601,"message":"method not found"}`
	}
	_, err := fmt.Fprintf(w, "%s%s,%s}\n", replyHead, m.ID, body)
	return err
}

// clip shortens a line for a message.
func clip(line []byte) []byte { return line[:min(len(line), 300)] }
