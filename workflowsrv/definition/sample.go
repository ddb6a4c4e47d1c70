package definition

import (
	"bytes"
	_ "embed"
)

//go:embed sample.json
var sampleJSON []byte

// Sample returns a small workflow to begin a new one with. It passes every check. The caller owns the bytes.
func Sample() []byte { return bytes.Clone(sampleJSON) }
