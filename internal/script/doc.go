// Package script runs a script of a model, which calls tools and keeps what they answer to itself.
//
//	client ── Host.Run ══ pipes ══ Serve ── QuickJS
//	             │                   a process of its own, which ends with the script
//	             └── Call: each call of a tool, made in the ordinary way
//
// The script is JavaScript (ES2023) without any input or output but tools.TOOLBOX.SERVER.TOOL(arguments), which
// promises the answer, and console. The engine keeps bounds of memory and stops most of what takes long, but not all: a
// search through an array that says it has 2^53 elements asks nobody whether it may go on. So it runs in a process that
// is killed.
//
//	memory     32 MB of the engine's heap; the engine throws "out of memory"
//	time       5 s of the processor: the engine is interrupted, and half a second later the process ends itself
//	calls      100, of which 10 are under way at a time; the others wait
//	messages   8 MiB, in either direction
//	console    16 KiB
//
// What the other side of a pipe says is never trusted to keep these bounds: Host counts calls and bytes itself.
package script
