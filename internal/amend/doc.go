// Package amend changes one member of a file that a person keeps, and leaves every other byte as it is: comments,
// order, blank lines, line ends.
//
//	text, key path, value ── Set, Remove, Rename ──▶ text
//
// JSON with comments, YAML and TOML are changed as text, at places that their parsers tell. Each result is read again
// and compared with what is wanted before it is returned, so a file is never broken: what cannot be changed in this way
// is an error, or for YAML is written anew from its nodes, which keeps comments and order.
package amend
