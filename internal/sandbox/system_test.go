package sandbox

import (
	"strings"
	"testing"
)

// TestSystemFilesHoldNoSecrets: the owner of the keys of this machine may be who runs workbench, as in a container.
func TestSystemFilesHoldNoSecrets(t *testing.T) {
	for _, secret := range []string{
		"/etc/shadow", "/etc/ssl/private/key.pem", "/etc/ssl/tools.key", "/etc/pki/tls/private/key.pem", "/etc/pki/entitlement/1-key.pem",
		"/etc/pki/consumer/key.pem", "/etc/ssh/ssh_host_ed25519_key", "/etc/kubernetes/admin.conf", "/private/etc/ssl/private/key.pem",
	} {
		for _, path := range systemFiles() {
			if strings.HasPrefix(secret, path) {
				t.Errorf("got %s readable by %s", secret, path)
			}
		}
	}
}
