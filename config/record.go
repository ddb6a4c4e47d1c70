package config

import (
	"cmp"
	"time"
)

// Record says how much is kept of calls, and whether on disk.
type Record struct {
	Mode    string        `key:"mode" enum:"off,meta,full"`                            // meta: all but arguments and results
	Dir     string        `key:"dir"`                                                  // folder of the files, absolute; "" for none
	MaxSize int           `key:"maxSize" least:"1048576" most:"2000000000" of:"bytes"` // of all files together, in bytes
	MaxAge  time.Duration `key:"maxAge" most:"8784h"`                                  // of a file; 0 for any
}

// Modes of a [Record].
const (
	RecordOff  = "off"
	RecordMeta = "meta"
	RecordFull = "full"
)

// DefaultRecordSize is how much is kept on disk unless the configuration says otherwise.
const DefaultRecordSize = 64 << 20

// readRecord reads a mode, or an object.
func readRecord(o *object) Record {
	mode, in := o.choiceOrObject("record", RecordOff, RecordMeta, RecordFull)
	r := Record{Mode: cmp.Or(mode, RecordMeta), MaxSize: DefaultRecordSize}
	if in == nil {
		return r
	}
	in.fill(&r, "mode")
	r.Dir = in.place("dir")
	in.fill(&r, "maxSize", "maxAge")
	in.done(func(string) string { return "" })
	if !in.has("dir") && (in.has("maxSize") || in.has("maxAge")) {
		o.c.fault(in.at, in.path, "want a dir beside maxSize and maxAge, got none", "they limit the files; the record in memory has its own limit")
	}
	return r
}
