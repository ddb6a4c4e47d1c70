// Package catalogue keeps on disk what was last seen of MCP servers: their lists, their capabilities and what they say
// of their use, so that a server can be spoken of before it runs.
//
// Each [Key] has a file of its own in one folder. A file is written beside its place and renamed, so that any number of
// processes may use the folder at once; the last writer stands. A file that is torn, foreign, of a newer program or too
// large is as good as none: nothing here is needed, it only saves time. Files that were not used for 90 days are
// removed, and so are those used longest ago when the folder holds more than 64 MiB.
//
// No value of an environment variable, header or argument is ever in a file or in its name, which is a digest.
package catalogue
