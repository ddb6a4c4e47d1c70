// Package servers puts workbench in front of forty servers, which people run or which have extensions, old and new,
// tidy and odd, all in one configuration, and compares what each says through workbench with what it says directly:
// every list item by item, calls by registered name and by workbench_use_tool, wrong calls too. It does so with a
// client of either era, measures what it sees and prints a table.
//
// It also has real agents, codex, opencode and Claude Code, open each toolbox and call all of its tools, driven by a
// scripted model on this machine, and prints how long the answers of the opens are and how many tools each agent can
// call.
//
// The servers come from npm, by the lock file in this folder, but for those of skills, which are made here of the SDK
// from npm; make servers installs them and runs the test, which takes minutes and more memory than a test should, so
// that go test alone skips it. Nothing here needs a network but the installation: keys are made up, and addresses are
// those of closed ports of this machine. Node 22 is needed, which npm brings for Linux on x64.
package servers
