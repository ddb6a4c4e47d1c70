package terminal

import "strings"

// Paint sets text off on a terminal; the zero value leaves it as it is.
type Paint struct{ on bool }

// PaintOf is that of a stream: a terminal that has colours, whose user has not said NO_COLOR. lookup reads a variable.
func PaintOf(stream any, lookup func(string) (string, bool)) Paint {
	no, _ := lookup("NO_COLOR")
	return Paint{Draws(stream, lookup) && no == ""}
}

func (p Paint) with(code, text string) string {
	if !p.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p Paint) Bold(text string) string  { return p.with("1", text) }
func (p Paint) Faint(text string) string { return p.with("2", text) }
func (p Paint) Good(text string) string  { return p.with("32", text) }
func (p Paint) Bad(text string) string   { return p.with("31", text) }

// Chosen sets off the line that is chosen of several.
func (p Paint) Chosen(text string) string { return p.with("7", text) }

// State gives what says how something stands the colour of that.
func (p Paint) State(text string) string {
	switch strings.TrimSpace(text) {
	case "ready", "ok", "finished", "done", "fixed":
		return p.Good(text)
	case "failed", "backoff", "circuit-open", "needs-login", "fault", "error", "tool_error", "lost", "timeout", "abandoned":
		return p.Bad(text)
	case "stopped", "disabled":
		return p.Faint(text)
	case "warning", "waiting", "starting", "installing":
		return p.with("33", text)
	}
	return text
}
