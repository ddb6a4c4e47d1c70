//go:build unix && !linux

package child_test

func attempts([]string) {}
