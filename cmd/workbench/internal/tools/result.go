package tools

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// part is one piece of a result: of a tool's content, of a prompt's messages, or of a resource.
type part struct {
	Type        foreign.Name `json:"type"`
	Text        string       `json:"text"`
	Data        string       `json:"data"` // base64
	Blob        string       `json:"blob"` // base64
	MIME        foreign.Name `json:"mimeType"`
	URI         foreign.Name `json:"uri"`
	Name        foreign.Name `json:"name"`
	Description foreign.Text `json:"description"`
	Resource    *part        `json:"resource"`
}

// content is a part of a result that may be of a kind that is not known here.
type content struct{ part }

func (c *content) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &c.part) == nil {
		return nil
	}
	var kind struct {
		Type foreign.Name `json:"type"`
	}
	_ = json.Unmarshal(raw, &kind)
	c.part = part{Type: kind.Type}
	return nil
}

// printResult prints the parts of a tool's result, or all of it.
func printResult(e *opening.Environment, result []byte, flags *callFlags) error {
	var r struct {
		Content    []content       `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("the result cannot be read: %w", foreign.NewError(err))
	}
	var err error
	switch {
	case flags.asJSON:
		err = printWhole(e, result)
	case len(r.Content) == 0 && len(r.Structured) > 0:
		err = printText(e, string(r.Structured))
	default:
		err = printParts(e, r.Content, flags)
	}
	if err == nil && r.IsError {
		err = errors.New("the tool answered with an error")
	}
	return err
}

// printWhole prints JSON of a server.
func printWhole(e *opening.Environment, raw []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintln(e.Out, string(foreign.JSON(b.Bytes())))
	return err
}

// printAll prints an array of what servers define.
func printAll(e *opening.Environment, all []json.RawMessage) error {
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return printWhole(e, raw)
}

func printParts(e *opening.Environment, parts []content, flags *callFlags) error {
	saved := 0
	for _, c := range parts {
		p := c.part
		if p.Resource != nil {
			resource := *p.Resource
			resource.Type = p.Type
			p = resource
		}
		data := p.Data + p.Blob
		var err error
		switch {
		case data != "" && flags.save != "":
			saved++
			err = savePart(e, &p, data, flags.save, saved)
		case data != "":
			_, err = fmt.Fprintf(e.Out, "[%s; --save DIR writes it to a file]\n", p.what(len(data)/4*3))
		case p.Type.Verbatim() == "resource_link":
			_, err = fmt.Fprintf(e.Out, "[link to %s]\n", strings.Join(strings.Fields(fmt.Sprint(p.Name, " ", p.URI, " ", p.Description)), " "))
		case p.Text != "" || p.Type.Verbatim() == "text":
			err = printText(e, p.Text)
		default:
			_, err = fmt.Fprintf(e.Out, "[%s; --json shows it]\n", strings.TrimSpace(p.Type.String()+" content"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// what says what a part with data is, of about so many bytes.
func (p *part) what(size int) string {
	what := p.Type.String()
	if what == "" || what == "resource" {
		what = "file"
	}
	if !p.URI.IsEmpty() {
		what += " " + p.URI.String()
	}
	if !p.MIME.IsEmpty() {
		what += ", " + p.MIME.String()
	}
	return fmt.Sprintf("%s, %s", what, terminal.Bytes(int64(size)))
}

// printText prints text of a server: on a terminal as that can be shown, with JSON set in lines, else as it is.
func printText(e *opening.Environment, text string) error {
	if terminal.Is(e.Out) {
		if trimmed := strings.TrimSpace(text); trimmed != "" && strings.Contains("{[", trimmed[:1]) && json.Valid([]byte(trimmed)) {
			return printWhole(e, []byte(trimmed))
		}
		text = foreign.Block(text)
	}
	_, err := fmt.Fprintln(e.Out, text)
	return err
}

// maxSaved is how many files of one name there may be before a new one has no name left.
const maxSaved = 10000

// savePart writes the data of a part into a new file of a folder, and says where.
func savePart(e *opening.Environment, p *part, text, dir string, number int) error {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("%s: it is not base64: %w", p.what(len(text)), err)
	}
	name := fmt.Sprintf("result-%d", number)
	if last := fileName(p.URI.Verbatim()); last != "" {
		name = last
	}
	ext := filepath.Ext(name)
	if name = strings.TrimSuffix(name, ext); ext == "" && (p.URI.IsEmpty() || !p.MIME.IsEmpty()) {
		ext = extension(p.MIME.Verbatim())
	}
	for i := 1; i <= maxSaved; i++ {
		file := name + ext
		if i > 1 {
			file = fmt.Sprintf("%s-%d%s", name, i, ext)
		}
		err := openfile.PutNew(filepath.Join(dir, file), data)
		if errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.Out, "%s: %s\n", filepath.Join(dir, file), p.what(len(data)))
		return err
	}
	return fmt.Errorf("there are %d files called %s in %s", maxSaved, name+ext, dir)
}

// fileName is the last part of a uri as a plain name for a file, "" if that is none.
func fileName(uri string) string {
	uri, _, _ = strings.Cut(uri, "?")
	last := uri[strings.LastIndexAny(uri, `/\:`)+1:]
	var b strings.Builder
	for _, r := range last {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)) {
			b.WriteRune(r)
		}
	}
	name := strings.TrimLeft(b.String(), ".-")
	return name[:min(len(name), 100)]
}

// extension is what files of a media type end in.
func extension(media string) string {
	switch media { // the usual one, where there are several
	case "image/jpeg":
		return ".jpg"
	case "image/png":
		return ".png"
	case "audio/wav":
		return ".wav"
	case "audio/mpeg":
		return ".mp3"
	case "text/plain":
		return ".txt"
	}
	if all, err := mime.ExtensionsByType(media); err == nil && len(all) > 0 {
		return all[0]
	}
	return ".bin"
}
