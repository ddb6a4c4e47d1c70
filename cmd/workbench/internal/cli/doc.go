// Package cli is what a command of this program knows of the world: standard input, output and error, the variables,
// the configuration that applies, the log, the places of files, secrets, and the person at the terminal. Nothing else
// in the program touches os.Args, os.Environ or the standard streams.
//
// A command is a function that gets an Environment and makes a *cobra.Command. Its error is told to the person by
// Environment.Report, which gives the exit code: Usage marks a call that does not make sense, Hint adds what to do
// next, and SilentError ends the program after the command has said all there is to say.
package cli
