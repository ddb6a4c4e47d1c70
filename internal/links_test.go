package internal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Links of the papers lead to files that are there, and to headings that those have.
func TestLinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	papers, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	papers = append(papers, "../README.md", "../ARCHITECTURE.md", "../CHANGELOG.md", "../SECURITY.md")
	for _, paper := range papers {
		text, err := os.ReadFile(paper)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			file, heading, _ := strings.Cut(found[1], "#")
			target := paper
			if file != "" {
				target = filepath.Join(filepath.Dir(paper), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s leads to %s: %v", paper, found[1], err)
			} else if heading != "" && !anchors(t, target)[heading] {
				t.Errorf("%s leads to %s, and %s has no such heading", paper, found[1], target)
			}
		}
	}
}

// anchors gives what the headings of a paper are linked by, as forges derive it.
func anchors(t *testing.T, paper string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(paper)
	if err != nil {
		t.Fatal(err)
	}
	dropped := regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	found := make(map[string]bool)
	code := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if title := strings.TrimLeft(line, "#"); title != line && !code {
			found[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")] = true
		}
	}
	return found
}
