package proxy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// tracedLine is a client of a front that traces, with the toolbox dev open.
func tracedLine(t *testing.T, servers string, sampler sdk.Sampler) (*line, *tracetest.SpanRecorder) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	front, err := proxy.New(readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {`+servers+`}}}}`), proxy.Options{
		Tracer: sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder), sdk.WithSampler(sampler)).Tracer("test"),
		Toolbox: toolbox.Options{Builtins: map[string]toolbox.Builtin{
			inside: func(_ principal.Principal, s config.Server) (wire.Endpoint, error) { return mcptest.New(s.Args...) },
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	l.direct("open", "dev")
	return l, recorder
}

const (
	clientTrace = "0af7651916cd43dd8448eb211c80319c"
	clientSpan  = "b7ad6b7169203331"
	clientSays  = `"traceparent":"00-` + clientTrace + "-" + clientSpan + `-01"`
)

// A server finds our span in place of the client's, wherever the client has put it or not, and all else as the client
// sent it.
func TestTraceIsCarriedOn(t *testing.T) {
	for name, test := range map[string]struct {
		params string // of the request, NAME its tool
		want   string // what the server gets, without the braces of _meta; SPAN is our traceparent
		below  bool   // the client's span
	}{
		"no _meta":             {`{"name":NAME,"arguments":{"a":1}}`, `{"_meta":{SPAN},"name":"params","arguments":{"a":1}}`, false},
		"empty _meta":          {`{"name":NAME,"_meta":{ },"arguments":{}}`, `{"name":"params","_meta":{SPAN },"arguments":{}}`, false},
		"other members":        {`{"_meta":{"x":1.0},"name":NAME,"arguments":{}}`, `{"_meta":{SPAN,"x":1.0},"name":"params","arguments":{}}`, false},
		"the client's":         {`{"name":NAME,"arguments":{},"_meta":{"tracestate":"v=1","x":[1.0],` + clientSays + `,"baggage":"k=v"}}`, `{"name":"params","arguments":{},"_meta":{"tracestate":"v=1","x":[1.0],SPAN,"baggage":"k=v"}}`, true},
		"the client's, before": {`{"_meta":{` + clientSays + `},"arguments":{"deep":{"a":"b"}},"name":NAME}`, `{"_meta":{SPAN},"arguments":{"deep":{"a":"b"}},"name":"params"}`, true},
		"not a traceparent":    {`{"name":NAME,"arguments":{},"_meta":{"traceparent":"yes"}}`, `{"name":"params","arguments":{},"_meta":{SPAN}}`, false},
		"twice":                {`{"name":NAME,"arguments":{},"_meta":{` + clientSays + `,` + clientSays + `}}`, `{"name":"params","arguments":{},"_meta":{` + clientSays + `,` + clientSays + `}}`, false},
		"a state of no trace":  {`{"name":NAME,"arguments":{},"_meta":{"tracestate":"v=1","traceparent":"yes"}}`, `{"name":"params","arguments":{},"_meta":{"tracestate":"",SPAN}}`, false},
		"_meta is no object":   {`{"name":NAME,"arguments":{},"_meta":null}`, `{"name":"params","arguments":{},"_meta":null}`, false},
		"of another kind":      {`{"name":NAME,"arguments":{},"_meta":{"traceparent":{"a":1}}}`, `{"name":"params","arguments":{},"_meta":{SPAN}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			l, recorder := tracedLine(t, `"a": {"command": "inside", "args": ["tools=params"]}`, sdk.AlwaysSample())
			l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.Replace(test.params, "NAME", `"dev__a__params"`, 1) + `}`)
			var reply struct {
				Result struct{ Content []struct{ Text string } }
			}
			if err := json.Unmarshal([]byte(l.reply("1")), &reply); err != nil || len(reply.Result.Content) != 1 {
				t.Fatalf("got %+v, %v, want a result", reply, err)
			}
			l.close()
			spans := recorder.Ended()
			if len(spans) != 1 {
				t.Fatalf("got %d spans, want 1", len(spans))
			}
			at := spans[0].SpanContext()
			want := strings.Replace(test.want, "SPAN", fmt.Sprintf(`"traceparent":"00-%s-%s-01"`, at.TraceID(), at.SpanID()), 1)
			if got := reply.Result.Content[0].Text; got != want {
				t.Errorf("got the params\n%s\nwant\n%s", got, want)
			}
			if below := at.TraceID().String() == clientTrace && spans[0].Parent().SpanID().String() == clientSpan && spans[0].Parent().IsRemote(); below != test.below {
				t.Errorf("got the parent %v, want the client's: %t", spans[0].Parent(), test.below)
			}
		})
	}
}

// A request through workbench_use_tool, one that is sent to a server of the other era, and one that is not sampled are
// carried on too.
func TestTraceIsCarriedOnByOtherWays(t *testing.T) {
	for name, test := range map[string]struct {
		server, call string
		sampler      sdk.Sampler
		want         string // of the _meta
	}{
		"use tool":      {`["tools=params"]`, `{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"params"}}`, sdk.AlwaysSample(), `"_meta":{"traceparent":"00-`},
		"modern server": {`["tools=params","modern"]`, `{"name":"dev__a__params","arguments":{}}`, sdk.AlwaysSample(), `,"traceparent":"00-`},
		"not sampled":   {`["tools=params"]`, `{"name":"dev__a__params","arguments":{},"_meta":{"traceparent":"00-` + clientTrace + "-" + clientSpan + `-00"}}`, sdk.ParentBased(sdk.AlwaysSample()), `-00"}`},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := tracedLine(t, `"a": {"command": "inside", "args": `+test.server+`}`, test.sampler)
			l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + test.call + `}`)
			got := strings.ReplaceAll(l.reply("1"), `\"`, `"`)
			l.close()
			if !strings.Contains(got, test.want) || strings.Count(got, `"_meta"`) != 1 || strings.Count(got, `"traceparent"`) != 1 {
				t.Errorf("got %s, want one _meta with one traceparent, as in %s", got, test.want)
			}
			if strings.Contains(got, clientSpan) {
				t.Errorf("got %s, want our span in place of the client's", got)
			}
		})
	}
}

// What a span says of its request follows the semantic conventions, and how the request ended.
func TestSpans(t *testing.T) {
	l, recorder := tracedLine(t, `"a": {"command": "inside", "args": ["tools=echo,fail,iserror", "prompts=greet", "resources=a:1"]}`, sdk.AlwaysSample())
	for i, request := range []string{
		`"tools/call","params":{"name":"dev__a__echo","arguments":{"secret":"canary"}}`,
		`"tools/call","params":{"name":"dev__a__fail","arguments":{}}`,
		`"tools/call","params":{"name":"dev__a__iserror","arguments":{}}`,
		`"prompts/get","params":{"name":"dev__a__greet"}`,
		`"resources/read","params":{"uri":"a:1"}`,
	} {
		l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s}`, i, request))
		l.reply(fmt.Sprint(i))
	}
	l.close()
	base := func(method string, id int, outcome string) map[string]string {
		return map[string]string{"mcp.method.name": method, "jsonrpc.request.id": fmt.Sprint(id), "workbench.toolbox": "dev", "workbench.server": "a", "workbench.outcome": outcome, "network.transport": "pipe"}
	}
	tool := func(name string, id int, outcome string, more ...string) map[string]string {
		m := base("tools/call", id, outcome)
		m["gen_ai.tool.name"], m["gen_ai.operation.name"] = name, "execute_tool"
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	prompt := base("prompts/get", 3, "ok")
	prompt["gen_ai.prompt.name"] = "greet"
	want := []struct {
		name   string
		status codes.Code
		attrs  map[string]string
	}{
		{"tools/call echo", codes.Unset, tool("echo", 0, "ok")},
		{"tools/call fail", codes.Error, tool("fail", 1, "error", "error.type", "-32001", "rpc.response.status_code", "-32001")},
		{"tools/call iserror", codes.Error, tool("iserror", 2, "tool_error", "error.type", "tool_error")},
		{"prompts/get greet", codes.Unset, prompt},
		{"resources/read", codes.Unset, base("resources/read", 4, "ok")},
	}
	got := recorder.Ended()
	if len(got) != len(want) {
		t.Fatalf("got %d spans, want %d", len(got), len(want))
	}
	for i, w := range want {
		s := got[i]
		if s.Name() != w.name || s.SpanKind() != trace.SpanKindServer || s.Status().Code != w.status {
			t.Errorf("got %s, %v, %v, want %s, server, %v", s.Name(), s.SpanKind(), s.Status(), w.name, w.status)
		}
		if attrs := byKey(s.Attributes()); fmt.Sprint(attrs) != fmt.Sprint(w.attrs) {
			t.Errorf("%s: got\n%v\nwant\n%v", w.name, attrs, w.attrs)
		}
	}
}

func byKey(list []attribute.KeyValue) map[string]string {
	m := make(map[string]string)
	for _, a := range list {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}
