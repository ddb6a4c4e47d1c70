package main

import "strings"

// paint sets text off on a terminal; the zero value leaves it as it is.
type paint struct{ on bool }

// paint is that of a stream: a terminal that has colours, whose user has not said NO_COLOR.
func (e *environment) paint(stream any) paint {
	no, _ := e.lookup("NO_COLOR")
	term, _ := e.lookup("TERM")
	return paint{isTerminal(stream) && no == "" && term != "dumb"}
}

func (p paint) with(code, text string) string {
	if !p.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p paint) bold(text string) string  { return p.with("1", text) }
func (p paint) faint(text string) string { return p.with("2", text) }
func (p paint) good(text string) string  { return p.with("32", text) }
func (p paint) bad(text string) string   { return p.with("31", text) }

// state gives what says how something stands the colour of that.
func (p paint) state(text string) string {
	switch strings.TrimSpace(text) {
	case "ready", "ok", "finished", "done", "mended":
		return p.good(text)
	case "failed", "backoff", "circuit-open", "needs-login", "fault", "error", "tool_error", "lost", "timeout", "abandoned":
		return p.bad(text)
	case "stopped", "disabled":
		return p.faint(text)
	case "warning", "waiting", "starting", "installing":
		return p.with("33", text)
	}
	return text
}
