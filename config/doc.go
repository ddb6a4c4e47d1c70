// Package config reads workbench-config.json: what a user wrote, as plain values that are checked.
//
//	Find ─ path ─▶ Load ─ bytes ─▶ Parse ──▶ *Config
//	                                 │
//	             JSON or YAML ─▶ nodes with positions ─▶ one checker ─▶ *Error with every fault
//
// A mistake of the file is a [Fault] with its line and column, and no Config comes of it; [LoadUsable] has a mistake
// inside the entry of a server cost that server alone. A mistake of the surroundings, a variable that is not set, is
// the Problem of the one server that wants it in any case; the rest of the Config is good.
//
// The package starts nothing, logs nothing and reads no environment but the lookup function it is given. Its functions
// may be called from several goroutines at once; a Config is a value that nobody here changes later. What a user needs
// to know of the file stands in docs/configuration.md, and for editors in workbench-config.schema.json, made by
// [Schema].
package config
