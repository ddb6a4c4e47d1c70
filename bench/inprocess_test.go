package main

import "testing"

// A call costs five objects at most. With -race, pools lose some of what is put back.
func TestAllocations(t *testing.T) {
	p := built(t)
	for _, name := range []string{nameFront, useFront} {
		got, err := p.allocated(bounded(t), name, "200 B", 400)
		if err != nil {
			t.Fatal(err)
		}
		if got > 5 {
			t.Errorf("%s: got %v objects allocated for a call, want 5 at most", name, got)
		}
	}
}
