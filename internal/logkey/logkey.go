// Package logkey has the keys of log lines. There are no others, so that one search finds all that was logged of a
// server, whoever logged it. Those of time, level and message are zerolog's. docs/observability.md says what each
// holds; a test compares. Arguments, results and values of environment variables and headers are never logged.
package logkey

// The keys.
const (
	Toolbox = "toolbox" // name of a toolbox
	Server  = "server"  // name of a server in it
	Tool    = "tool"    // name of a tool, as its server has it
	Model   = "model"   // name of a language model, as its endpoint has it
	PID     = "pid"     // of a server's process
	Client  = "client"  // what the client of a session calls itself

	Workbench = "workbench" // process that writes the line
	Attempt   = "attempt"   // how often the server was started, or the model asked
	Dur       = "dur"       // time taken, in milliseconds
	Err       = "err"       // what went wrong

	Session      = "session"      // of a client, its number in this process; of a command workflow, as its caller knows it
	User         = "user"         // whom it is for
	Conversation = "conversation" // of that user
	Turn         = "turn"         // of that conversation, its turn_key

	Conversations = "conversations" // how many of them

	URL       = "url"        // where clients find us
	TokenFile = "token_file" // path of the file with the token
	Searched  = "searched"   // paths at which there was no configuration
	Dropped   = "dropped"    // number of messages, or lines, that nobody fetched
	Bytes     = "bytes"      // size
	Stderr    = "stderr"     // a line that a server wrote to standard error
	Detail    = "detail"     // what else there is to say, in words
	Panic     = "panic"      // the value of a panic
	Stack     = "stack"      // where it was
)
