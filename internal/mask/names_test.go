package mask_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/internal/mask"
)

// Names as programs have them for what they log in by, and names that only look like these.
func TestSecretNames(t *testing.T) {
	for _, name := range []string{"API_KEY", "DB_PASS", "MYSQL_PASS", "SMTP_PASS", "MYSQL_PWD", "db-pwd", "GITHUB_PAT", "PGPASS", "PASS", "REDIS_PW", "JWT", "SERVICE_BEARER"} {
		if !mask.IsSecretName(name) {
			t.Errorf("%s: want a secret", name)
		}
	}
	for _, name := range []string{"PWD", "OLDPWD", "PATH", "PATTERN", "BYPASS", "COMPASS_URL", "PASSIVE", "HOST"} {
		if mask.IsSecretName(name) {
			t.Errorf("%s: want no secret", name)
		}
	}
}

// The value of a variable is masked by its name, or what of it is secret.
func TestAddVariable(t *testing.T) {
	for _, tt := range []struct{ name, value, text, want string }{
		{"DB_PASS", "hunter2000", "no hunter2000", "no ${DB_PASS}"},
		{"DATABASE_URL", "postgres://ada:hunter2000@db.example/shop", "user ada with hunter2000 at db.example", "user ada with [masked] at db.example"},
		{"CONNECTION_STRING", "Server=db.example;Database=shop;Password=hunter2000;", "hunter2000 at db.example of shop", "[masked] at db.example of shop"},
		{"SLACK_URL", "https://hooks.example.com/services/T0AB12CD3/a1b2c3d4e5f6g7h8i9j0k1", "POST /services/T0AB12CD3/a1b2c3d4e5f6g7h8i9j0k1", "POST /services/T0AB12CD3/[masked]"},
		{"HOST", "db.example", "no route to db.example", "no route to db.example"},
	} {
		var set mask.Set
		set.AddVariable(tt.name, tt.value)
		if got := set.Text(tt.text); got != tt.want {
			t.Errorf("%s=%s: got %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}
