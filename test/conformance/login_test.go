package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// metadataDocument is the client that a scenario about client metadata documents expects.
const metadataDocument = "https://conformance-test.local/client-metadata.json"

// suiteEntry is the entry of the suite's server in the configuration, with the client that the scenario registered for
// us.
func suiteEntry(tb testing.TB, scenario, url string) entry {
	tb.Helper()
	e := entry{"url": url}
	var given struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		PrivateKey   string `json:"private_key_pem"`
		WorkloadJWT  string `json:"valid_jwt"`
		IDPClientID  string `json:"idp_client_id"`
		IDPIssuer    string `json:"idp_issuer"`
		IDToken      string `json:"idp_id_token"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" && strings.HasPrefix(scenario, "auth/") {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			tb.Fatalf("%v: %s", err, text)
		}
	}
	switch {
	case scenario == "auth/basic-cimd":
		e["oauth"] = entry{"clientId": metadataDocument}
	case scenario == "auth/client-credentials-basic":
		e["oauth"] = entry{"clientId": given.ClientID, "clientSecret": given.ClientSecret, "grant": "client_credentials"}
	case scenario == "auth/client-credentials-jwt":
		e["oauth"] = entry{"clientId": given.ClientID, "privateKey": given.PrivateKey, "grant": "client_credentials"}
	case scenario == "auth/wif-jwt-bearer":
		e["oauth"] = entry{"clientId": given.ClientID, "grant": "jwt_bearer", "assertion": entry{"file": tokenFile(tb, given.WorkloadJWT)}}
	case scenario == "auth/enterprise-managed-authorization":
		e["oauth"] = entry{"clientId": given.ClientID, "clientSecret": given.ClientSecret, "grant": "jwt_bearer", "identityProvider": entry{
			"issuer": given.IDPIssuer, "clientId": given.IDPClientID, "idToken": entry{"file": tokenFile(tb, given.IDToken)}}}
	case given.ClientID != "":
		e["oauth"] = entry{"clientId": given.ClientID, "clientSecret": given.ClientSecret}
	}
	return e
}

// tokenFile is a file with a token that something else than workbench got.
func tokenFile(tb testing.TB, token string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "token")
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// maxLogins is how often the user of this client does as workbench says. It is more than any scenario wants, so that it
// is workbench that has to know when another login is of no use.
const maxLogins = 5

// callWithLogins calls the tool of a server that wants logins, as a user does: the call says what to run, the user runs
// it and calls again.
func (c *client) callWithLogins(config string) {
	c.t.Helper()
	for range maxLogins {
		text, failed := c.use()
		if !failed || !strings.Contains(text, "workbench login suite/suite") {
			c.t.Logf("the call ended with %v %s", failed, text)
			return
		}
		if err := login(c.t, config); err != nil {
			c.t.Logf("the login ended with %v", err) // some scenarios want just that; the suite knows which
			return
		}
	}
	c.t.Errorf("after %d logins workbench still says that another one helps", maxLogins)
}

// use calls the tool through workbench_use_tool, which opens the toolbox, and returns what came of it.
func (c *client) use() (text string, failed bool) {
	c.t.Helper()
	params := `{"name":"workbench_use_tool","arguments":{"toolbox_name":"suite","tool_name":"test-tool","arguments":{}}}`
	if c.modern {
		params = wiretest.Modern(params, clientCapabilities)
	}
	reply := c.Call("tools/call", params)
	if reply.Error != nil {
		return reply.Error.Message, true
	}
	var result struct {
		IsError bool
		Content []struct{ Text string }
	}
	c.decode(reply.Result, &result)
	for _, part := range result.Content {
		text += part.Text
	}
	return text, result.IsError
}

// login runs workbench login and is the browser in which somebody consents.
func login(tb testing.TB, config string) error {
	cmd := exec.CommandContext(tb.Context(), wiretest.Program("workbench"), "login", "suite/suite", "--config", config)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err == nil {
		var resp *http.Response
		if resp, err = http.Get(strings.TrimSpace(address)); err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}
	if failed := cmd.Wait(); failed != nil {
		return fmt.Errorf("%w (%v): %s", failed, err, stderr.String())
	}
	return err
}
