// Package definition reads workflow definitions: files in JSON or YAML that describe, step by step, how an agent does a
// piece of work.
//
// [Parse] turns the bytes of one file into a [Workflow], or into an [*Error] that lists every fault with its line
// and column. It checks the file against the JSON Schema of this package (see [Schema]), and then what a schema cannot
// say: step ids that occur twice, references that lead nowhere, conditions, regular expressions and embedded schemas
// that do not compile, loops that cannot run.
//
// A [Store] reads whole directories. Its [Source] values are layered: a workflow of a later source replaces one of the
// same id of an earlier source. Files are checked first and layered afterwards, so that a broken file never hides a
// sound one. What a Store has found at one moment is a [Catalogue], which does not change any more; the Store makes a
// new one when files change.
//
//	Source → file → Parse → Workflow ──┐
//	Source → file → Parse → *Error ────┤→ Catalogue
//	Source → fs.FS (embedded) ─────────┘
//
// The format is that of the published workflow schemas 0.0.4 to v0.3.0. A workflow can take over the steps of another,
// a routine ([Routines]): a Store knows those of all its sources.
package definition
