package footprint

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// percent waits until the collector has run and goes by a percent that is right.
func percent(t *testing.T, right func(percent uint64) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		runtime.GC()
		now := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		if metrics.Read(now); right(now[0].Value.Uint64()) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the collector goes by %d percent", now[0].Value.Uint64())
		}
	}
}

func TestUnhurried(t *testing.T) {
	t.Setenv("GOGC", "")
	const heap = 64 << 20
	Unhurried(heap)
	// What a test has alive is less than the least heap, so this is as much as there may be.
	percent(t, func(now uint64) bool { return now == 1600 })
	some := make([]byte, 16<<20)
	percent(t, func(now uint64) bool { return 200 < now && now <= 300 })
	more := make([]byte, heap/2)
	percent(t, func(now uint64) bool { return now == 100 })
	runtime.KeepAlive(some)
	runtime.KeepAlive(more)
}
