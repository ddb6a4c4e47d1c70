// Package openfile is the one way in which this program opens, makes and replaces files.
//
// A path is a name that others may have given to something else meanwhile. A pipe makes whoever opens it wait for ever,
// a device has no end, a link leads to a file that is nobody's business, a folder that everybody can write lets
// everybody choose the file. So:
//
//   - Opening never waits, and what was opened is looked at before it is used: a file is a regular one or it is refused.
//     Only what the caller of the program has handed over as an open descriptor, as the <(…) of a shell does, may be a pipe.
//   - Reading is bounded in size and in time, so that neither a file that grows nor a disk that hangs holds anything up.
//   - What decides which programs are run is read by ReadTrusted alone, which asks who else can write it.
//   - A file gets its mode when it is made. The mode of a file that was there is never changed, for it may be
//     another's, but by LetRun, when a person asks for it.
//
// A test reads the source and fails where files are opened past this package.
package openfile
