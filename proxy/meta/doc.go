// Package meta has the words that a client is told before it opens a toolbox: the instructions, which present the
// toolboxes of a configuration, and the definitions of workbench's own tools, the meta tools. Its functions take a
// configuration and give text; what a meta tool does when it is called is the business of package proxy.
package meta
