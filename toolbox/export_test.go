package toolbox

import "github.com/mcp-workbench/workbench/config"

// KeyOf is by what a server of that configuration is known in the catalogue.
func KeyOf(cfg config.Server) string { return (&Server{cfg: cfg, box: &surroundings{}}).key().Server }

// ProgramOf is what tells the file that is started from another in its place.
func ProgramOf(cfg config.Server) string {
	_, state := (&Server{cfg: cfg, box: &surroundings{}}).program()
	return state
}
