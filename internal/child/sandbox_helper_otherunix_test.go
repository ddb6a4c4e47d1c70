//go:build unix && !linux

package child_test

func attempts([]string) {}

// orphanage has no orphans: they go to the first process of the system.
func orphanage() {}
