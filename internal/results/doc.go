// Package results keeps results of tools that are too large for the window of a model, and tells of each what a model
// needs to read on: how it begins, its shape, its size and its address.
//
//	Store   of one process: the folder, and how much is kept in all
//	Shelf   of one session: what nobody else can read, gone with the session
//
// A kept result is a file of its own with mode 0600, which has no name as long as it is open, so that it is gone with
// the process however that ends. The file holds the text of the result, decoded, and behind it the result as the server
// wrote it. The lines that are wanted are read from their place: every 128th is remembered. A path is walked over
// the bytes, since decoding ten megabytes takes ten times as long as reading them.
//
// All methods may be called by several goroutines.
package results
