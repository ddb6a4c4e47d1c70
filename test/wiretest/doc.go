// Package wiretest is an MCP client for tests that speaks the wire itself: it sends lines as they are written in the
// test, keeps every line of both directions in order, and decodes no more than the envelope. What an SDK would repair,
// reorder or hide stays visible.
//
// A test starts a command with [Start], or joins two streams with [New], shakes hands with [Client.Initialize]
// (2025-11-25 and before) or puts [Modern] metadata on its requests (2026-07-28), and asserts on [Message] values and
// on the [Client.Transcript]. [Diff] and [Same] compare JSON without rounding a number; [Mark] sees to it that no
// process outlives the test.
//
//	         Send, Call, Notify                  roots/list, sampling/createMessage, …
//	test ───────────────────────▶ other side ─────────────────────────▶ Answer
//	  ▲                               │                                    │
//	  └── Reply, Next, Transcript ◀───┴──────────◀─────────────────────────┘
//
// Every wait is bounded, by 30 seconds unless [Options] says otherwise; a wait that ends so fails the test and prints
// what was sent and received. Each line the other side writes must be a JSON-RPC message with exact, unique keys: any
// other line fails the test, whatever it waited for. Methods that can fail a test must be called from its goroutine.
package wiretest
