// Package runs keeps the runs of workflows: who started one and what for, where it stands, what was done, and who
// agreed to what. A run survives the end of the program, and is found again by words.
//
//	workflow_start ─┐
//	workflow_next  ─┼─ Engine ─┬─ stepping: which step is next
//	workflow_resume┘           ├─ gates: what a step must put out before the next one is handed out
//	                           ├─ people: what only a person may answer
//	                           └─ Log: the events of each run, which are only ever added to
//
// What is kept of a run is its events and the definition that it goes by; all else follows from these ([Open]). An
// answer leaves when the events that it rests on are on stable storage. Events are added behind those that the writer
// has read: of two writers one is refused, with the event that came in between.
//
// From the top down, where nothing knows what stands above it:
//
//	start, next, find, manage, hook   what is asked of the engine
//	people, act, children             who does the step: a person, workbench, other runs
//	turn                              one call about a run: what it notes and keeps
//	standing                          where a run stands, in questions that change nothing
//	Run                               what follows from the events
//
// An [Engine] is safe for concurrent use.
package runs
