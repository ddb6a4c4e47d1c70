//go:build !linux

package child

// Distant returns false: nothing is known of it here.
func (s Spec) Distant() bool { return false }

// launched returns the command itself.
func launched(_ []string, spec Spec) (command, error) { return resolve(spec) }

// RunLaunched returns 2: nothing is launched.
func RunLaunched([]string) int { return 2 }
