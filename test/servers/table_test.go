package servers

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// row is what is printed of a server.
type row struct {
	observation observation
	open        float64 // milliseconds until workbench has it ready
	rss         int     // kilobytes of its processes
	faults      []string
}

// writeTable writes the table of one era.
func writeTable(w io.Writer, title string, rows []*row) {
	fmt.Fprintf(w, "\n%s\n\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "server\ttools\tresources/templates/prompts\tms direct\tms to open\tRSS MB\tverdict\toddities")
	for _, r := range rows {
		o := r.observation
		verdict := "same"
		if len(r.faults) > 0 {
			verdict = strconv.Itoa(len(r.faults)) + " FAULTS"
		}
		fmt.Fprintf(t, "%s/%s\t%d\t%d/%d/%d\t%d\t%.0f\t%.0f\t%s\t%s\n", o.server.toolbox, o.server.name, len(o.items["tools"]),
			len(o.items["resources"]), len(o.items["resourceTemplates"]), len(o.items["prompts"]),
			o.took.Milliseconds(), r.open, float64(r.rss)/1024, verdict, strings.Join(o.oddities, "; "))
	}
	_ = t.Flush() // nothing to be done for a table that cannot be printed
}

// rss is the resident memory of the processes that carry a mark, in kilobytes; pages that they share count for each.
func rss(mark string) int {
	sum := 0
	for _, p := range wiretest.Marked(mark) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(status)) {
			if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, _ := strconv.Atoi(strings.Fields(value)[0])
				sum += kb
			}
		}
	}
	return sum
}
