//go:build !unix

package config

import "io/fs"

// distrust finds nothing: the rights of files are not told by their mode here.
func distrust(string, fs.FileInfo) error { return nil }
