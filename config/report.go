package config

// report collects what is wrong with one file.
type report struct {
	file   string
	faults []Fault
	// lenient has all that is wrong with a server, or the models, be their problem, and not what is wrong with
	// variables alone.
	lenient bool
	partly  bool // it had something to be lenient with

	// problems collects what is wrong with the variables of the server, or the models, being read. It is nil elsewhere,
	// where such things are faults.
	problems *[]Fault
}

func (r *report) fault(at position, path, message, hint string) {
	to := &r.faults
	if r.lenient && r.problems != nil {
		to, r.partly = r.problems, true
	}
	*to = append(*to, Fault{File: r.file, Line: at.line, Column: at.column, Path: path, Message: message, Hint: hint})
}

// problem reports what the surroundings are to blame for, not the file.
func (r *report) problem(at position, path, message, hint string) {
	if r.problems == nil {
		r.fault(at, path, message, hint)
		return
	}
	*r.problems = append(*r.problems, Fault{File: r.file, Line: at.line, Column: at.column, Path: path, Message: message, Hint: hint})
}

// tolerate has what is wrong with variables become the problem of one part of the file, from now until the function
// that it returns is called.
func (r *report) tolerate(problem *error) (end func()) {
	var faults []Fault
	r.problems = &faults
	return func() {
		r.problems = nil
		if len(faults) > 0 {
			*problem = newError(faults)
		}
	}
}

// reject reports a string that does not fit. If variables made it, the file may be right, and their values are not
// told.
func (r *report) reject(v value, want, hint string) {
	if v.varied {
		r.problem(position{v.node.Line, v.node.Column}, v.path, want+", got something else from its variables", "")
		return
	}
	r.fault(position{v.node.Line, v.node.Column}, v.path, want+", got "+got(v.node, v.secret), hint)
}
