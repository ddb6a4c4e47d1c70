package config

import (
	"time"

	"github.com/mcp-workbench/workbench/internal/document"
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
	r := Record{Mode: RecordMeta, MaxSize: DefaultRecordSize}
	n, path, ok := o.take("record")
	if !ok {
		return r
	}
	modes := []string{RecordOff, RecordMeta, RecordFull}
	if n.Kind == document.Text {
		if v, ok := o.choiceOf(n, path, modes...); ok {
			r.Mode = v.text
		}
		return r
	}
	if n.Kind != document.Object {
		o.c.fault(position{n.Line, n.Column}, path, `want "off", "meta", "full" or an object, got `+got(n, false), "")
		return r
	}
	in, ok := o.c.object(n, path)
	if !ok {
		return r
	}
	in.fill(&r, "mode")
	if v, ok := in.text("dir", false); ok {
		r.Dir = o.c.place(v)
	}
	in.fill(&r, "maxSize", "maxAge")
	in.done(func(string) string { return "" })
	if !in.has("dir") && (in.has("maxSize") || in.has("maxAge")) {
		o.c.fault(in.at, path, "want a dir beside maxSize and maxAge, got none", "they limit the files; the record in memory has its own limit")
	}
	return r
}
