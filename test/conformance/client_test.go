package conformance

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestClient: the server of the suite, behind workbench, sees a conforming client.
func TestClient(t *testing.T) {
	t.Parallel()
	s := newSuite(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The scenarios auth/* are not among these: they are about a client that logs in by OAuth, which workbench does not do.
	tests := []struct {
		revision  revision
		scenarios []string
	}{
		{revision{name: "2025-06-18", required: 2}, []string{"initialize", "tools_call"}},
		{revision{name: "2025-11-25", required: 4, listed: true}, []string{
			"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "json-schema-2020-12-preservation"}},
		{revision{name: "2026-07-28", required: 7, listed: true}, []string{
			"tools_call", "request-metadata", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers",
			"http-invalid-tool-headers", "json-schema-ref-no-deref", "json-schema-2020-12-preservation"}},
	}
	env := []string{roleVariable + "=client", "GORACE=" + noSleep}
	var table scores
	t.Run("scenarios", func(t *testing.T) {
		for _, test := range tests {
			t.Run(test.revision.name, func(t *testing.T) {
				t.Parallel()
				required := s.required(t, test.revision, "client")
				for _, name := range required {
					if !strings.HasPrefix(name, "auth/") && !slices.Contains(test.scenarios, name) {
						t.Errorf("the scenario %s is required and not tried", name)
					}
				}
				var ran []scenario
				for _, name := range test.scenarios {
					ran = append(ran, s.run(t, env, "client", "--scenario", name, "--spec-version", test.revision.name,
						"--command", self+" -test.run=^TestAsClient$")...)
				}
				table.judge(t, "over stdio", test.revision, required, ran)
			})
		}
	})
	t.Logf("scenarios of clients that passed:\n%s", table.String())
}
