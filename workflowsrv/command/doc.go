// Package command is a workflow of commands: an application that an agent or a person works by saying what to do where
// they stand.
//
// A [Workflow] has contexts and commands. A context is a kind of thing to stand on, such as an order; the things
// themselves, one in another, are a [Path], plain data that the caller keeps. A [Command] has typed parameters and is
// bound to one tool of a server, one HTTP request or one process.
//
//	folder of YAML ── Load ────┐
//	tools of servers ─ Project ┴─► Workflow ── New ──► Engine ──┬─ Execute: an exact command string
//	                                                            ├─ Run: a command with its parameters
//	                                                            ├─ Assist: an instruction in words
//	                                                            └─ Answer: the reply to a question of ours
//
// An [Engine] is a function from a path and a text to an [Outcome], which has the path after it. It keeps nothing
// between two calls, so that any number of sessions share one, and what a session has to remember, its path and a
// question that waits for an answer, can be stored as JSON.
//
// Execute is deterministic and asks no model: see [Parse] for its grammar. Assist finds out what an instruction means,
// in steps that each need less certainty than the one before: exact names and utterances, corrections that the user has
// confirmed, names with a slip, and words in common. What it inferred it runs unasked only where that changes nothing.
// A [Chooser], which may be a model, can take the choice among the likeliest commands.
//
// Inside, from the top down, where nothing knows what stands above it:
//
//	loader, checker                  make a workflow of files
//	turn                             one call of the engine
//	instruction, memory, performer   what was said, what was seen, what is done
//	index                            which commands an instruction may mean
//	Workflow, Command, Path          what there is, and where one stands
//
// The workflow of the package example runs as it is, without any server.
package command
