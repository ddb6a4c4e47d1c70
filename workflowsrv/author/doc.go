// Package author helps those who write workflows: a picture of the steps ([Mermaid], [SVG]), who sets and who tests
// each variable ([Variables]), and cases, which walk a workflow as an agent would and say which branches nobody took
// ([ParseCases], [Case.Run], [Coverage]).
package author
