package conformance

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// TestClient: the server of the suite, behind workbench, sees a conforming client.
func TestClient(t *testing.T) {
	t.Parallel()
	s := newSuite(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	logins := []string{
		"auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3", "auth/basic-cimd",
		"auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined",
		"auth/scope-step-up", "auth/scope-retry-limit", "auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post",
		"auth/token-endpoint-auth-none", "auth/pre-registration"}
	// Extensions are of no revision.
	extensions := []string{
		"auth/client-credentials-basic", "auth/client-credentials-jwt", "auth/dpop", "auth/dpop-nonce",
		"auth/enterprise-managed-authorization", "auth/wif-jwt-bearer"}
	newer := []string{
		"auth/resource-mismatch", "auth/offline-access-scope", "auth/offline-access-not-supported",
		"auth/authorization-server-migration", "auth/iss-supported", "auth/iss-not-advertised", "auth/iss-supported-missing",
		"auth/iss-wrong-issuer", "auth/iss-unexpected", "auth/iss-normalized", "auth/metadata-issuer-mismatch"}
	tests := []struct {
		revision  revision
		together  string // the part of the suite that is what the revision requires, where the suite has no list of that
		scenarios []string
	}{
		{revision{name: "2025-03-26", required: 2}, "backcompat", []string{
			"auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"}},
		{revision{name: "2025-06-18", required: 5}, "core", []string{
			"initialize", "tools_call", "auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none"}},
		{revision{name: "2025-11-25", required: 18, listed: true}, "", slices.Concat(logins, extensions, []string{
			"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "json-schema-2020-12-preservation"})},
		{revision{name: "2026-07-28", required: 32, listed: true}, "", slices.Concat(logins, newer, extensions, []string{
			"tools_call", "request-metadata", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers",
			"http-invalid-tool-headers", "json-schema-ref-no-deref", "json-schema-2020-12-preservation"})},
	}
	skills := []string{"sep-2640-client-no-prefetch", "sep-2640-client-verify-digest", "sep-2640-client-verify-size",
		"sep-2640-client-verify-frontmatter"}
	var table scores
	var unscored []string
	var mu sync.Mutex
	t.Run("scenarios", func(t *testing.T) {
		for _, test := range tests {
			t.Run(test.revision.name, func(t *testing.T) {
				t.Parallel()
				required := s.required(t, test.revision, "client")
				for _, name := range required {
					if !slices.Contains(test.scenarios, name) {
						t.Errorf("the scenario %s is required and not tried", name)
					}
				}
				env := map[string]string{roleVariable: "client", placesVariable: t.TempDir(), "GORACE": noSleep}
				apart := maps.Clone(env)
				env[clientsVariable] = strconv.Itoa(test.revision.required)
				command := []string{"--command", self + " -test.run=^TestAsClient$", "--timeout", "280000"}
				together := test.revision.args()
				if test.together != "" {
					together = []string{"--suite", test.together, "--spec-version", test.revision.name}
				}
				runner := s.runner(t)
				ran := runner.run(t, env, "client", append(together, command...)...)
				if test.revision.name == wiretest.ModernOnly {
					test.scenarios = append(test.scenarios, skills...)
				}
				for _, name := range test.scenarios {
					if slices.ContainsFunc(ran, func(sc scenario) bool { return sc.Name == name }) {
						continue
					}
					args := append([]string{"--scenario", name, "--spec-version", test.revision.name}, command...)
					if slices.Contains(extensions, name) || slices.Contains(skills, name) {
						args = append(args, "--force")
					}
					ran = append(ran, runner.run(t, apart, "client", args...)...)
				}
				table.judge(t, "over stdio", test.revision, required, ran)
				if !test.revision.listed {
					return
				}
				names := s.unscored(t, test.revision, "client")
				if test.revision.name == wiretest.ModernOnly {
					names = append(names, skills...)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, name := range names {
					outcome := "not run"
					for _, sc := range ran {
						if sc.Name == name && sc.ok() {
							outcome = "passes"
						}
					}
					unscored = append(unscored, fmt.Sprintf("| %s | `%s` | %s |", test.revision.name, name, outcome))
				}
			})
		}
	})
	inDocument(t, unscored)
	t.Logf("scenarios of clients that passed:\n%s", table.String())
}
