package awake

import (
	"runtime"
	"testing"
	"time"
)

func becomes(t *testing.T, want bool, meanwhile func()) {
	t.Helper()
	for end := time.Now().Add(time.Minute); watching.Load() != want; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("watching is %v, want %v", !want, want)
		}
		meanwhile()
	}
}

// Messages that follow each other closely are watched for, for as long as they do.
func TestWatch(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	for range 3 {
		becomes(t, true, Heard)
		becomes(t, false, func() {})
	}
}
