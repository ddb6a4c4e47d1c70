//go:build !linux && !darwin

package sandbox

// Missing returns the parts of the rules that cannot be enforced on this system: all.
func (r *Rules) Missing() []string { return []string{"files", "network"} }
