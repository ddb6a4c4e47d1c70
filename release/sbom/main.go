// Command sbom writes the bill of materials of a Go program as CycloneDX 1.6: the modules that the program itself says
// that it was built from.
//
//	go run ./release/sbom PROGRAM OUTPUT
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
)

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Ref     string `json:"bom-ref"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

type bill struct {
	Format   string `json:"bomFormat"`
	Spec     string `json:"specVersion"`
	Version  int    `json:"version"`
	Metadata struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM OUTPUT")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(program, output string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(of(info), "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return err
	}
	return os.WriteFile(output, append(text, '\n'), 0o644)
}

// of returns the bill of a program: its own module, the modules that it was built from, and Go's standard library.
func of(info *debug.BuildInfo) bill {
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1}
	b.Metadata.Component = module("application", info.Main.Path, info.Main.Version)
	b.Components = []component{module("library", "std", info.GoVersion)}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		b.Components = append(b.Components, module("library", d.Path, d.Version))
	}
	whole := dependency{Ref: b.Metadata.Component.Ref}
	for _, c := range b.Components {
		whole.DependsOn = append(whole.DependsOn, c.Ref)
	}
	b.Dependencies = []dependency{whole}
	return b
}

func module(kind, path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{Type: kind, Name: path, Version: version, PURL: purl, Ref: purl}
}
