// Package agent has a language model work a workflow of commands. An [Agent] does the three things that a server of
// commands asks of a model: it carries out what a user wants (Run), takes the choice among commands for one instruction
// (Choose), and names conversations (Summarize).
//
//	instruction ─► plan ─► round ─► calls of the model ─► command.Engine ─► results ─┐
//	                ▲        ▲                                  │                    │
//	                │        └──────────────────────────────────┼────────────────────┤
//	                └─ an answer of the user, a wrong parameter ┴────────────────────┘
//
// In each round the model sees the commands of the place where the session stands as tools, with their schemas, and
// calls some or answers. What its commands change is shown to the user first, as with an instruction that was only
// inferred; a command that merely moves is not, since the agent moves to and fro, and each change says where it is
// made.
//
// The model is not trusted: it gets 25 rounds and a budget of tokens, calls and time ([Options]), the same call is not
// made a third time in vain, and what it calls wrongly, or answers with nothing, three times on end ends the work. What
// commands return reaches it cut to a length and as the result of a call, in this turn and in later ones: never as its
// own word or the user's. Its instructions say that it is data. The last word is not the model's: what was changed, and
// by which plan, is said behind it.
//
// An Agent keeps nothing between two calls. A question to the user that nobody can answer at once leaves as plain data,
// and comes back with the answer.
//
// The prompts are the files of the folder prompts.
package agent
