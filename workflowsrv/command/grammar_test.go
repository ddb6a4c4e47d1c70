package command_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

func TestParse(t *testing.T) {
	params := []string{"order_id", "note", "list"}
	tests := []struct {
		name, text string
		want       []string // name=text
		err        string   // a piece of the message
		offset     int
	}{
		{name: "no parameters", text: "show"},
		{name: "one", text: "show <order_id>44821</order_id>", want: []string{"order_id=44821"}},
		{name: "white space is free", text: " show<order_id>1</order_id>\n\t<note>x</note> ", want: []string{"order_id=1", "note=x"}},
		{name: "ends of a value are trimmed", text: "show <note>\n  two words \n</note>", want: []string{"note=two words"}},
		{name: "an empty value is a value", text: "show <note></note>", want: []string{"note="}},
		{name: "a repeated tag", text: "show <list>a</list><list>b</list>", want: []string{"list=a", "list=b"}},
		{name: "entities", text: "show <note>&lt;b&gt; &amp;amp; &quot;&apos; &#65;&#x42;&#x1F600;</note>", want: []string{"note=<b> &amp; \"' AB😀"}},
		{name: "an entity keeps white space", text: "show <note> &#32; </note>", want: []string{"note= "}},
		{name: "no entity is text", text: "show <note>a & b &nbsp; &; &#; &#x;</note>", want: []string{"note=a & b &nbsp; &; &#; &#x;"}},
		{name: "other tags are text", text: "show <note><b>bold</b> a < b</note>", want: []string{"note=<b>bold</b> a < b"}},
		{name: "CDATA is verbatim", text: "show <note><![CDATA[ </note> &lt; <order_id> ]]></note>", want: []string{"note= </note> &lt; <order_id> "}},
		{name: "CDATA in between", text: "show <note>a <![CDATA[<]]> b</note>", want: []string{"note=a < b"}},

		{name: "unclosed", text: "show <note>x", err: "<note> is not closed by </note>", offset: 5},
		{name: "unclosed, and another begins", text: "show <note>x <list>y</list>", err: "<list> begins in the value of <note>", offset: 13},
		{name: "closed by another", text: "show <note>x</list>", err: "</list> is inside the value of <note>", offset: 12},
		{name: "nested in itself", text: "show <note>x<note>y</note></note>", err: "<note> begins in the value of <note>", offset: 12},
		{name: "closed and never opened", text: "show </note>", err: "</note> closes a tag that was not opened", offset: 5},
		{name: "stray text", text: "show order 5", err: `"order 5" is outside the tags`, offset: 5},
		{name: "stray text behind", text: "show <note>x</note> y", err: `"y" is outside`, offset: 20},
		{name: "unknown", text: "show <orderid>5</orderid>", err: "there is no parameter <orderid>; did you mean <order_id>?", offset: 5},
		{name: "case counts", text: "show <Note>5</Note>", err: "did you mean <note>?", offset: 5},
		{name: "attributes", text: `show <note lang="en">x</note>`, err: "<note> takes no attributes", offset: 5},
		{name: "self-closing", text: "show <note/>", err: "write <note>value</note>", offset: 5},
		{name: "a tag without end", text: "show <note", err: "not closed by a >", offset: 5},
		{name: "CDATA without end", text: "show <note><![CDATA[x</note>", err: "not closed by ]]>", offset: 11},
		{name: "CDATA outside", text: "show <![CDATA[x]]>", err: "there is no parameter", offset: 5},
		{name: "an entity of no character", text: "show <note>&#xD800;</note>", err: "&#xD800; is no character", offset: 11},
		{name: "characters are counted", text: "show <note>größer ☕</note> <list>ä</lst>", err: "<list> is not closed", offset: 27},
		{name: "an entity of NUL", text: "show <note>&#0;</note>", err: "is no character", offset: 11},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			name, rest, err := command.ParseName(test.text)
			if err != nil || name != "show" {
				t.Fatalf("got name %q, %v", name, err)
			}
			args, err := command.Parse(test.text, rest, params)
			var got []string
			for _, a := range args {
				got = append(got, a.Name+"="+a.Text)
			}
			if test.err == "" {
				if err != nil || !slices.Equal(got, test.want) {
					t.Fatalf("got %q, %v, want %q", got, err, test.want)
				}
				return
			}
			var bad *command.Error
			if !errors.As(err, &bad) {
				t.Fatalf("got %q, %v, want an error with %q", got, err, test.err)
			}
			if bad.Code != 422 || bad.Offset != test.offset || !strings.Contains(bad.Message, test.err) {
				t.Errorf("got %d at %d: %s, want 422 at %d: … %s …", bad.Code, bad.Offset, bad.Message, test.offset, test.err)
			}
		})
	}
}

func TestParseName(t *testing.T) {
	tests := []struct{ text, name, err string }{
		{"open_order", "open_order", ""},
		{"  Order/cancel_order <a>", "Order/cancel_order", ""},
		{"größe", "größe", ""},
		{"", "", "the command is empty"},
		{" \n", "", "the command is empty"},
		{"<a>1</a>", "", "begins with its name"},
		{"open(order)", "", `"(" cannot follow the name`},
		{"a\xff", "", "not valid UTF-8"},
		{strings.Repeat("x", 257), "", "at most 256 are possible"},
		{strings.Repeat(" ", 1<<20) + "x", "", "at most 1048576 are read"},
	}
	for _, test := range tests {
		name, _, err := command.ParseName(test.text)
		if name != test.name || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%.20q: got %q, %v, want %q, %q", test.text, name, err, test.name, test.err)
		}
	}
}

// FuzzParse holds the parser against one that is written in another way: the text is cut into tokens first, and judged
// as a sequence of them.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", " <a>1</a>", "<a>1</a><list>x</list> <list>y</list>", "<a><![CDATA[</a>]]></a>", "<a> x &lt; &#65; &#x41; & </a>",
		"<a>1<b>2</b></a>", "<a>1</b>", "</a>", "<a", "<a/>", "<a x='1'>1</a>", "<c>1</c>", "x", "<a><![CDATA[</a>", "<a>&#xD800;</a>",
		"<a>\t\n</a>\r", "<a>&#32;x&#32;</a>", "<a>]]></a>", "<a><</a>", "<a><</<</a></a>", "<a><![CDATA[]]>  </a>", "<a>&#00000065;</a>&",
	} {
		f.Add(seed)
	}
	params := []string{"a", "b", "list"}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		args, err := command.Parse(text, 0, params)
		var got []string
		for _, a := range args {
			got = append(got, a.Name, a.Text)
		}
		want, ok := reference(text)
		if ok != (err == nil) || ok && !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, %v, want %q, %v", text, got, err, want, ok)
		}
		var bad *command.Error
		if err != nil && (!errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(text)) {
			t.Fatalf("%q: got %#v, want a place in the text", text, err)
		}
	})
}

// reference reads tags of a, b and list: names and values, one after the other.
func reference(text string) (list []string, ok bool) {
	token := regexp.MustCompile(`(?s)<!\[CDATA\[.*?\]\]>|<!\[CDATA\[|</?(?:a|b|list)>|&(?:lt|gt|amp|quot|apos|#[0-9]{1,9}|#x[0-9a-fA-F]{1,8});|.`)
	open := ""
	type char struct {
		text string
		kept bool
	}
	var value []char
	for _, tok := range token.FindAllString(text, -1) {
		closing := strings.TrimSuffix(strings.TrimPrefix(tok, "</"), ">")
		opening := strings.TrimSuffix(strings.TrimPrefix(tok, "<"), ">")
		isTag := regexp.MustCompile(`^</?(a|b|list)>$`).MatchString(tok)
		switch {
		case open == "" && strings.Trim(tok, " \t\r\n") == "":
		case open == "" && isTag && tok[1] != '/':
			open, value = opening, nil
		case open == "", tok == "<![CDATA[":
			return nil, false
		case isTag && tok[1] == '/' && closing == open:
			for len(value) > 0 && !value[0].kept && strings.Trim(value[0].text, " \t\r\n") == "" {
				value = value[1:]
			}
			for n := len(value); n > 0 && !value[n-1].kept && strings.Trim(value[n-1].text, " \t\r\n") == ""; n-- {
				value = value[:n-1]
			}
			all := ""
			for _, c := range value {
				all += c.text
			}
			list, open = append(list, open, all), ""
		case isTag:
			return nil, false
		case strings.HasPrefix(tok, "<![CDATA["):
			value = append(value, char{strings.TrimSuffix(strings.TrimPrefix(tok, "<![CDATA["), "]]>"), true})
		case len(tok) > 1 && tok[0] == '&':
			r, valid := decodeEntity(tok[1 : len(tok)-1])
			if !valid {
				return nil, false
			}
			value = append(value, char{r, true})
		default:
			value = append(value, char{tok, false})
		}
	}
	return list, open == ""
}

func decodeEntity(name string) (string, bool) {
	if s, ok := map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}[name]; ok {
		return s, true
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil || n == 0 || n > 0x10FFFF || n >= 0xD800 && n <= 0xDFFF {
		return "", false
	}
	return string(rune(n)), true
}

// FuzzFormat: what Format writes is read back as the same value.
func FuzzFormat(f *testing.F) {
	for _, seed := range []string{"x", " <b>&amp; ", "]]>", "</a>", "", "\n", "<![CDATA[ </a> ]]>", "&#32;", "a\x00b", "é<b>"} {
		f.Add(seed)
	}
	w := folder(f, "commands/do.yaml", "description: d\neffect: read\nparams: {a: {type: string}, b: {type: string}}\ntool: s/do\n")
	f.Fuzz(func(t *testing.T, value string) {
		if !utf8.ValidString(value) {
			t.Skip()
		}
		given, err := json.Marshal(map[string]string{"a": value, "b": value})
		if err != nil {
			t.Fatal(err)
		}
		text := w.Format(command.Action{CommandName: "do", Arguments: given})
		args, err := command.Parse(text, len("do"), []string{"a", "b"})
		if err != nil || len(args) != 2 || args[0].Text != value || args[1].Text != value {
			t.Errorf("%q as %q: got %+v, %v", value, text, args, err)
		}
	})
}
