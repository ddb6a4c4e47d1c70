// Package store keeps conversations: who said what, what came of it, and where the next turn goes on. It also keeps the
// runs of workflows, each a log of events that only grows.
//
// A [Store] is one SQLite file, which any number of processes of one machine share ([OpenSQLite]), or one PostgreSQL
// database, which replicas on several machines share ([OpenPostgres]). Both behave alike; one suite of tests runs on
// both.
//
//	principal ─┬─ session ──► conversation ─┬─ turn, turn, turn …
//	           ├─ last conversation of each client and workflow
//	           ├─ corrections of each workflow version
//	           └─ run ── event, event, event …
//
// Everything belongs to a principal, the name that the caller has verified, and every key begins with it. What belongs
// to another principal does not exist: the answer is [ErrNotFound], as for an id that nobody has. Ids are 128 random
// bits.
//
// # What is promised
//
// When a method that changes something returns without an error, the change is on stable storage and survives the end
// of the process and the loss of power. When it returns an error, the change may have been kept; [Store.Start] with the
// same key tells. One turn of a conversation is under way at a time, over all processes ([Store.Start]). A file that is
// damaged is set aside, never deleted, and never read as if it were whole: rows carry checksums, turns have no gaps.
//
// A Store is safe for concurrent use.
package store
