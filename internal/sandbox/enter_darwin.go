package sandbox

import "os"

// Missing returns the parts of the rules that cannot be enforced on this system.
func (r *Rules) Missing() []string {
	if _, err := os.Stat(wrapperPath); err != nil {
		return []string{"files and network (" + wrapperPath + " is not there)"}
	}
	return nil
}
