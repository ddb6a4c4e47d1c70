// Package lock compares what MCP servers say of themselves with what was agreed to: the lock file, workbench-lock.json.
//
// A lock file has an [Item] for each thing that a model reads or obeys: how a server is started, what it calls itself,
// its instructions, its tools, prompts, resource templates and skills. Each stands on a line of its own, as canonical
// JSON with its digest, so that version control shows what has changed:
//
//	file, err := lock.Parse(name, data)          // what was agreed to
//	changes := lock.Compare(file.Items(server), now)
//	file.Replace(server, now)                    // agree to what there is now
//	data = file.Encode()
//
// The canonical form is made from bytes: members in the order of their names, strings with one spelling for each
// character, numbers as they were written. What no model and no program goes by is left out, such as icons, _meta,
// members that the protocol does not have, and the order of sets in schemas. Dates in descriptions count for nothing
// either: some servers write today's there.
//
// [Pins] is the part of a lock file that concerns one server, for judging its lists while it runs.
package lock
