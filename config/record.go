package config

import "time"

// Record says how much is kept of calls, and whether on disk.
type Record struct {
	Mode    string        `key:"mode" enum:"off,meta,full"` // meta: all but arguments and results
	Dir     string        `key:"dir"`                       // folder of the files, absolute; "" for none
	MaxSize int           `key:"maxSize"`                   // of all files together, in bytes
	MaxAge  time.Duration `key:"maxAge"`                    // of a file; 0 for any
}

// Modes of a [Record].
const (
	RecordOff  = "off"
	RecordMeta = "meta"
	RecordFull = "full"
)

// DefaultRecordSize is how much is kept on disk unless the configuration says otherwise.
const DefaultRecordSize = 64 << 20

// record reads a mode, or an object.
func (c *checker) record(o *object) Record {
	r := Record{Mode: RecordMeta, MaxSize: DefaultRecordSize}
	n, path, ok := o.take("record")
	if !ok {
		return r
	}
	modes := []string{RecordOff, RecordMeta, RecordFull}
	if n.kind == kindString {
		if v, ok := o.choiceOf(n, path, modes...); ok {
			r.Mode = v.text
		}
		return r
	}
	if n.kind != kindObject {
		c.fault(n.at, path, `want "off", "meta", "full" or an object, got `+n.got(false), "")
		return r
	}
	in, ok := c.object(n, path)
	if !ok {
		return r
	}
	if v, ok := in.choice("mode", modes...); ok {
		r.Mode = v.text
	}
	if v, ok := in.text("dir", false); ok {
		r.Dir = c.place(v)
	}
	in.count("maxSize", &r.MaxSize)
	in.duration("maxAge", &r.MaxAge)
	in.done(func(string) string { return "" })
	if !in.has("dir") && (in.has("maxSize") || in.has("maxAge")) {
		c.fault(in.at, path, "want a dir beside maxSize and maxAge, got none", "they are about files; what is kept in memory is bounded by itself")
	}
	return r
}
