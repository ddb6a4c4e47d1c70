package example

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A tool is one thing that the shop can do.
type tool struct {
	name, description string
	properties        string // of its input schema
	required          []string
	effect            command.Effect
	do                func(in input) (text string, data any, err error)
}

// input are the arguments of all tools together.
type input struct {
	Words    string `json:"words"`
	Status   string `json:"status"`
	OrderID  string `json:"order_id"`
	Customer string `json:"customer"`
	Book     string `json:"book"`
	Copies   whole  `json:"copies"`
	Note     string `json:"note"`
	Reason   string `json:"reason"`
	Address  string `json:"address"`
	Line     whole  `json:"line"`
}

// whole is an integer, however it is written.
type whole int

func (w *whole) UnmarshalJSON(raw []byte) error {
	n, ok := jsontype.Int(raw)
	if !ok {
		return fmt.Errorf("want a whole number, got %.20q", raw)
	}
	*w = whole(n)
	return nil
}

const orderID = `"order_id":{"type":"string","description":"The number of the order"}`

func (s *Shop) table() []tool {
	return []tool{
		{"search_books", "Find books by title or author", `"words":{"type":"string"}`, nil, command.Read, func(in input) (string, any, error) {
			found := s.search(in.Words)
			var lines []string
			for _, b := range found {
				lines = append(lines, fmt.Sprintf("%s by %s, %d.%02d", b.Title, b.Author, b.Cents/100, b.Cents%100))
			}
			if found == nil {
				return "No book has these words.", map[string]any{"books": []book{}}, nil
			}
			return strings.Join(lines, "\n"), map[string]any{"books": found}, nil
		}},
		{"list_orders", "List the orders, the newest first", `"status":{"type":"string","enum":["open","shipped","cancelled"]}`, nil, command.Read, func(in input) (string, any, error) {
			orders := s.list(in.Status)
			lines := []string{}
			for _, o := range orders {
				lines = append(lines, fmt.Sprintf("%s, %s, %s", o.ID, o.Customer, o.Status))
			}
			if len(orders) == 0 {
				lines = append(lines, "There are none.")
			}
			return strings.Join(lines, "\n"), map[string]any{"orders": orders}, nil
		}},
		{"get_order", "Show an order", orderID, []string{"order_id"}, command.Read, func(in input) (string, any, error) {
			o, err := s.change(in.OrderID, nil)
			return o.text(), o, err
		}},
		{"place_order", "Order copies of a book", `"customer":{"type":"string"},"book":{"type":"string"},"copies":{"type":"integer","minimum":1,"maximum":20}`,
			[]string{"customer", "book", "copies"}, command.Write, func(in input) (string, any, error) {
				o, err := s.place(in.Customer, in.Book, int(in.Copies))
				return "Order " + o.ID, o, err
			}},
		{"add_note", "Write a note on an order", orderID + `,"note":{"type":"string"}`, []string{"order_id", "note"}, command.Write, func(in input) (string, any, error) {
			o, err := s.change(in.OrderID, func(o *order) error { return o.note(in.Note) })
			return o.text(), o, err
		}},
		{"cancel_order", "Cancel an open order", orderID + `,"reason":{"type":"string"}`, []string{"order_id", "reason"}, command.Write, func(in input) (string, any, error) {
			o, err := s.cancel(in.OrderID, in.Reason)
			return "Order " + o.ID + " is " + o.Status, o, err
		}},
		{"send_receipt", "Pretend to mail the receipt of an order", orderID + `,"address":{"type":"string"}`, []string{"order_id", "address"}, command.External, func(in input) (string, any, error) {
			o, err := s.change(in.OrderID, nil)
			return "Sent the receipt of order " + o.ID + " to " + in.Address, map[string]any{"sent_to": in.Address}, err
		}},
		{"get_line", "Show one line of an order", orderID + `,"line":{"type":"integer","minimum":1}`, []string{"order_id", "line"}, command.Read, func(in input) (string, any, error) {
			l, err := s.line(in.OrderID, int(in.Line), 0)
			return fmt.Sprintf("%s, %d", l.Book, l.Copies), l, err
		}},
		{"change_copies", "Change the copies of a line of an open order", orderID + `,"line":{"type":"integer","minimum":1},"copies":{"type":"integer","minimum":1,"maximum":20}`,
			[]string{"order_id", "line", "copies"}, command.Write, func(in input) (string, any, error) {
				l, err := s.line(in.OrderID, int(in.Line), int(in.Copies))
				return fmt.Sprintf("%s, %d", l.Book, l.Copies), l, err
			}},
	}
}

// define gives the tool as tools/list has it.
func (t tool) define() mcp.Tool {
	read, open := t.effect == command.Read, t.effect == command.External
	required, _ := json.Marshal(append([]string{}, t.required...))
	return mcp.Tool{
		Name: t.name, Description: t.description,
		RawInputSchema: json.RawMessage(`{"type":"object","properties":{` + t.properties + `},"required":` + string(required) + `,"additionalProperties":false}`),
		Annotations:    mcp.ToolAnnotation{ReadOnlyHint: &read, OpenWorldHint: &open},
	}
}

// call runs the tool. What it refuses is a result for the model to read.
func (t tool) call(arguments json.RawMessage) *mcp.CallToolResult {
	var in input
	if err := json.Unmarshal(arguments, &in); err != nil {
		return mcp.NewToolResultError("the arguments cannot be read: " + foreign.NewError(err).Error())
	}
	text, data, err := t.do(in)
	if err != nil {
		return mcp.NewToolResultError(err.Error())
	}
	return mcp.NewToolResultStructured(data, text)
}

// Tools gives the tools of the shop, for command.Load.
func (s *Shop) Tools() []command.Tool {
	var list []command.Tool
	for _, t := range s.tools {
		raw, err := json.Marshal(t.define())
		if err != nil {
			panic("the tool " + t.name + " of the shop is no JSON: " + err.Error())
		}
		list = append(list, command.Tool{Toolbox: Toolbox, Server: Server, Raw: raw})
	}
	return list
}

var _ command.Caller = (*Shop)(nil)

// CallTool calls a tool of the shop, which is the only server it knows.
func (s *Shop) CallTool(_ context.Context, toolbox, server, name string, arguments json.RawMessage) (json.RawMessage, error) {
	if toolbox != Toolbox || server != Server {
		return nil, fmt.Errorf("the example has only the server %s/%s, not %s/%s", Toolbox, Server, toolbox, server)
	}
	for _, t := range s.tools {
		if t.name == name {
			return json.Marshal(t.call(arguments))
		}
	}
	return nil, fmt.Errorf("the shop has no tool %q", name)
}

var _ wire.Endpoint = (*Shop)(nil)

// Connect begins an MCP session with the shop. Each message is answered before the next is taken: nothing that the shop
// does waits.
func (s *Shop) Connect(send func(msg []byte)) wire.Session {
	engine := mcpserver.NewMCPServer(Server, "1", mcpserver.WithToolCapabilities(false))
	for _, t := range s.tools {
		engine.AddTool(t.define(), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			arguments, err := json.Marshal(r.GetArguments())
			if err != nil {
				return nil, err
			}
			return t.call(arguments), nil
		})
	}
	return session{engine, send}
}

// A session is one MCP conversation with the shop.
type session struct {
	engine *mcpserver.MCPServer
	send   func(msg []byte)
}

// Receive answers a request before it returns.
func (s session) Receive(msg []byte) {
	var m wire.Message
	if err := wire.Scan(msg, &m); err != nil || m.Kind != wire.Request {
		return
	}
	answer, err := json.Marshal(s.engine.HandleMessage(context.Background(), msg))
	if err != nil {
		answer = wire.AppendError(nil, m.Bytes(m.ID), wire.CodeInternal, "Internal error", nil)
	}
	s.send(answer)
}

// Close has nothing to wait for.
func (session) Close(context.Context) error { return nil }
