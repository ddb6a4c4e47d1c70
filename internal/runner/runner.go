package runner

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Runner is one of the programs that fetch a package and then run it.
type Runner struct {
	Name    string // "npx", "uvx", "docker"
	Package string // what it is to run, as its command line says; "" if that cannot be told
	kind    *kind
	args    []string
}

// kind is what runners of one make have in common.
type kind struct {
	caches func(env variables) []string // the folders that change while it installs
	says   *regexp.Regexp               // what it writes while it installs
	npm    bool                         // its cache is that of npx
}

// row says which command line is a runner: a program, and the words that follow it before the package.
type row struct {
	program string
	words   []string // one of them comes first, flags aside; nil: none is needed
	kind    *kind
}

func rows() []row {
	npm := &kind{caches: npmCaches, npm: true, says: regexp.MustCompile(`will be installed|^npm (http|info)|^added \d+ package`)}
	pnpm := &kind{caches: pnpmCaches, says: regexp.MustCompile(`^Progress: |^Packages: |^Downloading `)}
	bun := &kind{caches: bunCaches, says: regexp.MustCompile(`(?i)^resolving|^resolved, |^saved lockfile|\[\d+\] \.+`)}
	uv := &kind{caches: uvCaches, says: regexp.MustCompile(`^\s*(Downloading|Building|Built|Downloaded|Updating|Updated|Prepared|Resolved|Installed|Using CPython) `)}
	pipx := &kind{caches: pipxCaches, says: regexp.MustCompile(`(?i)^creating virtual environment|^installing |^collecting |^downloading `)}
	docker := &kind{says: regexp.MustCompile(`^Unable to find image|: Pulling |: (Downloading|Extracting|Waiting|Verifying Checksum|Download complete|Pull complete)|^Trying to pull |^Getting image source|^Copying (blob|config)`)}
	golang := &kind{caches: goCaches, says: regexp.MustCompile(`^go: (downloading|finding|extracting|added) `)}
	return []row{
		{"npx", nil, npm},
		{"npm", []string{"exec", "x"}, npm},
		{"pnpx", nil, pnpm},
		{"pnpm", []string{"dlx"}, pnpm},
		{"yarn", []string{"dlx"}, pnpm},
		{"bunx", nil, bun},
		{"bun", []string{"x"}, bun},
		{"uvx", nil, uv},
		{"uv", []string{"run", "tool"}, uv},
		{"pipx", []string{"run"}, pipx},
		{"docker", []string{"run", "compose", "pull"}, docker},
		{"podman", []string{"run", "pull"}, docker},
		{"nerdctl", []string{"run", "pull"}, docker},
		{"go", []string{"run"}, golang},
	}
}

// Of tells the runner that a command line starts; nil if it starts none. Also `cmd /c npx …` and `env npx …` start one.
func Of(command string, args []string) *Runner {
	name := program(command)
	switch {
	case name == "cmd" && len(args) > 1 && strings.EqualFold(args[0], "/c"), name == "env" && len(args) > 0 && args[0] == "--":
		return Of(args[1], args[2:])
	case name == "env":
		rest := slices.IndexFunc(args, func(a string) bool { return !strings.Contains(a, "=") })
		if rest < 0 || strings.HasPrefix(args[rest], "-") {
			return nil
		}
		return Of(args[rest], args[rest+1:])
	}
	for _, r := range rows() {
		if r.program != name {
			continue
		}
		rest := args
		if r.words != nil {
			first := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
			if first < 0 || !slices.Contains(r.words, args[first]) {
				continue
			}
			rest = args[first+1:]
		}
		return &Runner{Name: name, Package: packageOf(rest), kind: r.kind, args: rest}
	}
	return nil
}

// program is the name of a program without its folder and what Windows adds to it.
func program(command string) string {
	name := strings.ToLower(filepath.Base(filepath.FromSlash(command)))
	for _, ending := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// packageOf is the first of the arguments that is no flag; what a flag such as --package names comes before it.
func packageOf(args []string) string {
	for i, a := range args {
		for _, flag := range []string{"-p", "--package", "--from"} {
			if a == flag && i+1 < len(args) {
				return args[i+1]
			}
			if value, ok := strings.CutPrefix(a, flag+"="); ok {
				return value
			}
		}
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}
