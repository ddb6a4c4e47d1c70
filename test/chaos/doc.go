// Package chaos ends the built program in every way, makes its servers crash while they are called, opens sessions that
// nobody closes, and measures what that costs. In go test a short form of everything runs; make chaos runs it at length
// and prints a table of goals and figures, make soak goes on for as long as it is asked to. What must never be, such as
// a lost call or a process that is left, fails the test; times are shown beside their goals and fail nothing, since
// machines differ.
package chaos
