package toolbox

import (
	"time"

	"github.com/mcp-workbench/workbench/config"
)

// KeyOf is by what a server of that configuration is known in the catalogue.
func KeyOf(cfg config.Server) string { return (&Server{cfg: cfg, box: &Toolbox{}}).key().Server }

// ProgramOf is what tells the file that is started from another in its place.
func ProgramOf(cfg config.Server) string {
	_, state := (&Server{cfg: cfg, box: &Toolbox{}}).program()
	return state
}

// Failures is how a server's failures are counted.
type Failures struct{ backoff }

// Failed notes a failure; Served that the server was ready for up before it.
func (f *Failures) Failed(now time.Time) (wait time.Duration, open bool) { return f.failed(now) }
func (f *Failures) Served(up time.Duration)                              { f.served(up) }
