package main

// paint sets text off on a terminal; the zero value leaves it as it is.
type paint struct{ on bool }

// paint is that of a stream: a terminal whose user has not said NO_COLOR.
func (e *environment) paint(stream any) paint {
	no, _ := e.lookup("NO_COLOR")
	return paint{isTerminal(stream) && no == ""}
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
