package awake

import (
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	some  = 8                    // messages after which it is looked whether they follow each other closely
	piece = 2 * time.Millisecond // of waiting
	few   = 4                    // messages in a piece, at least
)

var (
	heard    atomic.Uint32
	watching atomic.Bool
)

// Heard says that a message has come. It may be called from any goroutine, and takes no time to speak of.
func Heard() {
	if heard.Add(1)%some == 0 && watching.CompareAndSwap(false, true) {
		go watch()
	}
}

// watch waits in the kernel for as long as messages follow each other closely. It does so piece by piece, since what
// waits there has one of the processors that Go gives goroutines to, which others may want; where there is no other,
// none is to be had.
func watch() {
	if runtime.GOMAXPROCS(0) < 2 {
		return // and it stays so
	}
	before := heard.Load() - some
	for now := heard.Load(); now-before >= few; now = heard.Load() {
		before = now
		_, _ = unix.Poll(nil, int(piece/time.Millisecond))
		runtime.Gosched()
	}
	watching.Store(false)
}
