//go:build !linux

package footprint

// forgetProgram does nothing where the system does not say what is mapped and what of it was changed.
func forgetProgram() {}
