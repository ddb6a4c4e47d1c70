package footprint

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// What was forgotten is not resident any more, and the program goes on all the same.
func TestForgetProgram(t *testing.T) {
	const populateRead = 22 // MADV_POPULATE_READ
	adviseProgram(populateRead)
	before := programKiB(t)
	forgetProgram()
	after := programKiB(t)
	t.Logf("%d KiB of the program were resident, %d are", before, after)
	if after >= before { // what is used meanwhile has come back, with its neighbours
		t.Errorf("%d KiB of the program are resident after %d", after, before)
	}
	runtime.GC() // walks stacks, types and tables of functions, all of which were forgotten
	if got := strings.Repeat("x", 3); got != "xxx" {
		t.Error(got)
	}
}

// programKiB returns how much of the program's own file is resident.
func programKiB(t *testing.T) (kib int) {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	for mapping := range strings.SplitSeq(string(mappings), "VmFlags:") {
		_, rest, own := strings.Cut(mapping, " "+self+"\n")
		if !own {
			continue
		}
		_, rest, _ = strings.Cut(rest, "\nRss:")
		size, _, _ := strings.Cut(rest, " kB")
		resident, err := strconv.Atoi(strings.TrimSpace(size))
		if err != nil {
			t.Fatal(err)
		}
		kib += resident
	}
	return kib
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string][2]uint64{
		"00400000-016dd000":         {0x400000, 0x16dd000},
		"7ffc0000-ffffffffff600000": {0x7ffc0000, 0xffffffffff600000},
		"":                          {},
		"12":                        {},
		"x-12":                      {},
		"12-x":                      {},
	} {
		if start, end := addresses(text); start != want[0] || end != want[1] {
			t.Errorf("%q: %x to %x", text, start, end)
		}
	}
}
