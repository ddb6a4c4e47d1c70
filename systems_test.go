package workbench_test

import (
	"os"
	"testing"

	"golang.org/x/tools/go/packages"
)

// What is only compiled for Windows and macOS has correct types there. Nothing is compiled, which takes a minute for
// each; make cross does that.
func TestOtherSystems(t *testing.T) {
	for _, system := range []string{"windows", "darwin"} {
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
				packages.NeedTypes | packages.NeedTypesSizes,
			Env: append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"), Tests: true}, "./...")
		if err != nil || len(loaded) < 100 {
			t.Fatalf("got %d packages, %v", len(loaded), err)
		}
		packages.Visit(loaded, nil, func(p *packages.Package) {
			for _, fault := range p.Errors {
				t.Errorf("%s: %v", system, fault)
			}
		})
	}
}
