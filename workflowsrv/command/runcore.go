package command

// runCore runs a core command.
func (t *turn) runCore(c *Command, args arguments) *Outcome {
	var response CommandResponse
	status := Completed
	switch c.Name {
	case WhatCanIDo:
		listing := t.w.Describe(t.path)
		response.Response = listing.DisplayText
		response.Artifacts = artifacts("commands", listing.Commands)
	case CurrentContext:
		response.Response = "You are at " + t.w.Trail(t.path) + "."
		response.Artifacts = artifacts("context", t.w.Title(t.path), "path", append(Path{}, t.path...))
	case GoUp:
		if len(t.path) == 0 {
			response.Response = "You are at the top already."
			break
		}
		t.path = t.path[: len(t.path)-1 : len(t.path)-1]
		response.Response = "You are at " + t.w.Trail(t.path) + "."
	case ResetContext:
		t.path = nil
		response.Response = "You are at the top."
	case Abort:
		response.Response = "No question is open any more."
		status = Cancelled
	}
	o := t.outcome(c, args, true, response)
	o.Status = status
	return o
}
