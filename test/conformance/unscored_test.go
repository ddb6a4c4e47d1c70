package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"
)

// skillScenarios are scenarios of the extension skills, which no revision has in its lists.
func skillScenarios() []string {
	return []string{"sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest"}
}

// unscored reads which scenarios a revision has run and does not score, but those of a part.
func (s suite) unscored(tb testing.TB, r revision, part string) (names []string) {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(s.folder, "requirements", r.name+".yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	var requirements struct {
		NotScored []struct{ Scenario, Leg string } `yaml:"not_scored"`
	}
	if err := yaml.Unmarshal(text, &requirements); err != nil {
		tb.Fatal(err)
	}
	for _, n := range requirements.NotScored {
		if n.Leg == part {
			names = append(names, n.Scenario)
		}
	}
	return names
}

// outcomes are those of scenarios that are not scored, without workbench and through it. They may be filled by several
// goroutines.
type outcomes struct {
	mu   sync.Mutex
	rows map[string][2]string // by revision and scenario, and a column for each way
	ran  [2]bool
}

// The columns of the table.
const (
	unaided = iota
	through
)

func (o *outcomes) note(column int, r revision, names []string, ran []scenario) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rows == nil {
		o.rows = make(map[string][2]string)
	}
	o.ran[column] = true
	for _, sc := range ran {
		if !slices.Contains(names, sc.Name) {
			continue
		}
		key := fmt.Sprintf("%s | `%s`", r.name, sc.Name)
		row := o.rows[key]
		switch {
		case len(sc.Problems) > 0:
			row[column] = "fails"
		case sc.Passed == 0:
			row[column] = "checks nothing yet"
		default:
			row[column] = "passes"
		}
		o.rows[key] = row
	}
}

// rowOfBoth is a row of the table with both columns.
var rowOfBoth = regexp.MustCompile("^\\| (\\d{4}-\\d\\d-\\d\\d \\| `[^`]+`) \\| ([^|]+) \\| [^|]+ \\|\\n")

// recall fills the column of the fixture by itself with what the document says of it.
func (o *outcomes) recall(tb testing.TB) {
	tb.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rows == nil {
		o.rows = make(map[string][2]string)
	}
	for line := range strings.Lines(document(tb)) {
		if cells := rowOfBoth.FindStringSubmatch(line); cells != nil {
			row := o.rows[cells[1]]
			row[unaided] = cells[2]
			o.rows[cells[1]], o.ran[unaided] = row, true
		}
	}
}

// check holds the table against the document, and wants each scenario to pass through workbench that passes without. Where only
// some of the runs were asked for there is no table.
func (o *outcomes) check(tb testing.TB) {
	tb.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ran[unaided] || !o.ran[through] {
		return
	}
	var lines []string
	for key, row := range o.rows {
		lines = append(lines, fmt.Sprintf("| %s | %s | %s |", key, row[unaided], row[through]))
		if row[unaided] == "passes" && row[through] != "passes" {
			tb.Errorf("%s passes without workbench; through it: %q", key, row[through])
		}
	}
	inDocument(tb, lines)
}

// inDocument wants the lines of a table in the document.
func inDocument(tb testing.TB, lines []string) {
	tb.Helper()
	slices.Sort(lines)
	table := strings.Join(lines, "\n")
	if !strings.Contains(document(tb), table) {
		tb.Errorf("docs/protocol.md has not this table, which is what came:\n%s", table)
	}
}

func document(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "protocol.md"))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}
