package author

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// The measures of a picture, in pixels.
const (
	width, margin, indent  = 720, 20, 28
	boxHeight, gap, letter = 34, 22, 7
	conditionHeight        = 20
)

// SVG draws the workflow as a column of steps. A dashed box is a step that its condition can leave out, and a frame is
// a loop.
func SVG(w *definition.Workflow) string {
	p := &picture{y: margin}
	p.box(w.Name, 0, "start")
	for _, s := range w.Steps {
		if !s.InLoop {
			p.step(s, 0)
		}
	}
	p.arrow(0)
	p.box("done", 0, "start")
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="13">`+"\n"+
		`<style>rect{fill:#fff;stroke:#345;rx:6}.start{fill:#e8eef4;rx:17}.maybe{stroke-dasharray:5 4}.frame{fill:none;stroke:#9ab}path{stroke:#345;fill:none}`+
		`.note{fill:#567;font-size:12px}</style>`+"\n%s</svg>\n", width, p.y+margin, p.b.String())
}

type picture struct {
	b strings.Builder
	y int
}

func (p *picture) step(s *definition.Step, depth int) {
	p.arrow(depth)
	class := "always"
	if s.RunCondition != nil {
		p.note("if "+s.RunCondition.String(), depth)
		class = "maybe"
	}
	if s.Loop == nil {
		p.box(label(s), depth, class)
		return
	}
	top := p.y
	p.y += gap / 2
	p.note(s.ID+": "+s.Title+" ("+LoopText(s.Loop)+")", depth+1)
	for _, body := range s.Loop.Body {
		p.step(body, depth+1)
	}
	p.y += gap / 2
	x := margin + depth*indent
	fmt.Fprintf(&p.b, `<rect class="frame %s" x="%d" y="%d" width="%d" height="%d"/>`+"\n", class, x, top, width-2*x, p.y-top)
}

func (p *picture) arrow(depth int) {
	x := margin + depth*indent + 60
	fmt.Fprintf(&p.b, `<path d="M%d %dv%dm-4 -6l4 6l4 -6"/>`+"\n", x, p.y, gap-4)
	p.y += gap
}

func (p *picture) note(text string, depth int) {
	x := margin + depth*indent
	fmt.Fprintf(&p.b, `<text class="note" x="%d" y="%d">%s</text>`+"\n", x, p.y+conditionHeight-7, fitted(text, width-2*x))
	p.y += conditionHeight
}

func (p *picture) box(text string, depth int, class string) {
	x := margin + depth*indent
	fmt.Fprintf(&p.b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d"/><text x="%d" y="%d">%s</text>`+"\n",
		class, x, p.y, width-2*x, boxHeight, x+12, p.y+22, fitted(text, width-2*x-24))
	p.y += boxHeight
}

// fitted cuts a text to the room that there is, and writes it for XML.
func fitted(text string, room int) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(cut.Within(text, room/letter))) // a strings.Builder takes everything
	return b.String()
}
