// Package diagnosis looks for what will keep a server from working, without starting it: programs that are not there,
// folders, scripts, what a shell would have filled in, placeholders of a manual. Each [Finding] has its remedy, and
// some can be mended.
package diagnosis
