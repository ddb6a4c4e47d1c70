//go:build unix

package child

// RunBareGuard is RunGuard where no control groups can be made.
func RunBareGuard() int { return runGuard(func() *groups { return nil }) }

// MayGroup reports whether control groups can be made here.
func MayGroup() bool {
	g := newGroups()
	g.close()
	return g != nil
}

// ReapAdopted reaps what a process has got that is the first of a container, as that does by itself.
var ReapAdopted = reapAdopted
