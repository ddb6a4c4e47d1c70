package commandsrv

import "slices"

// operationTable is in the order in which tools are listed. The operations are those of the published specification;
// its results and these differ in that these say more.
func operationTable() []*operation {
	return slices.Concat(sessionOperations(), turnOperations(), conversationOperations())
}

// inSession is the argument that says in which session an operation is wanted.
func inSession() param {
	return param{name: "session_id", kinds: []string{"string"}, about: "The session_id that initialize returned. A client with a session of its own on the connection may leave it out."}
}

const stringList = `{"type":"array","items":{"type":"string"}}`
