package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// sources returns the text of the Go files below a folder that are no tests, by their paths.
func sources(t *testing.T, folder string) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "node_modules":
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// What ARCHITECTURE.md names is to be searched for, and is found; each of its subjects is treated once.
func TestArchitectureIsOfThisCode(t *testing.T) {
	text, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	words := make(map[string]bool)
	for _, source := range sources(t, "..") {
		for word := range strings.FieldsFuncSeq(source, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			words[word] = true
		}
	}
	if lines, words := strings.Count(string(text), "\n"), len(strings.Fields(string(text))); lines > 120 || words > 1550 {
		t.Errorf("ARCHITECTURE.md has %d lines and %d words, want two pages: what is about one package belongs into its comment", lines, words)
	}
	names := regexp.MustCompile("`([A-Za-z]\\w*(?:\\.[A-Za-z]\\w*)?)`").FindAllStringSubmatch(string(text), -1)
	if len(names) < 30 {
		t.Errorf("got %d names in code font, want those of the page", len(names))
	}
	for _, name := range names {
		for word := range strings.SplitSeq(strings.TrimSuffix(name[1], ".go"), ".") {
			_, err := os.Stat(filepath.Join("..", word)) // a folder has a name too
			if !words[word] && err != nil && !strings.HasSuffix(name[1], ".go") {
				t.Errorf("there is no %s in the code, of which ARCHITECTURE.md speaks as %s", word, name[0])
			}
		}
	}
	seen := make(map[string]bool)
	for _, heading := range regexp.MustCompile(`(?m)^## .*$`).FindAllString(string(text), -1) {
		if seen[heading] {
			t.Errorf("%q stands there twice", heading)
		}
		seen[heading] = true
	}
}

// Each package says what it is for, which no map of all of them needs to say again.
func TestPackagesHaveComments(t *testing.T) {
	said := make(map[string]bool)
	for path, text := range sources(t, "..") {
		dir := filepath.Dir(path)
		said[dir] = said[dir] || regexp.MustCompile(`(?m)^(//[^\n]*|\*/)\npackage `).MatchString(text)
	}
	for dir, ok := range said {
		if !ok {
			t.Errorf("the package in %s has no comment", dir)
		}
	}
}

// The methods and fields that the comment of a package names are there.
func TestPackageCommentsAreOfThisCode(t *testing.T) {
	all := sources(t, "..")
	for path, comment := range all {
		if filepath.Base(path) != "doc.go" {
			continue
		}
		var own strings.Builder
		for other, text := range all {
			if filepath.Dir(other) == filepath.Dir(path) && other != path {
				own.WriteString(text)
			}
		}
		for _, name := range regexp.MustCompile(`\b([A-Z]\w*)\.([A-Z]\w*)`).FindAllStringSubmatch(comment, -1) {
			if !strings.Contains(own.String(), "\ntype "+name[1]+" ") {
				continue // of another package
			}
			if !regexp.MustCompile(`(?m)func \((\w+ )?\*?` + name[1] + `\) ` + name[2] + `\(|^\t[\w, ]*\b` + name[2] + ` `).MatchString(own.String()) {
				t.Errorf("%s speaks of %s, which is not there", path, name[0])
			}
		}
	}
}
