package child

import "testing"

// PretendFar has a folder taken for one of a file system that is far, until the test ends.
func PretendFar(t *testing.T, far string) {
	was := farMounts
	t.Cleanup(func() { farMounts = was })
	farMounts = func() mounts { return mounts{"/": false, far: true} }
}
