package criteria

import "fmt"

// MaxDepth is how deep conditions and criteria may nest. Deeper input is a [ShapeError].
const MaxDepth = 64

// A ShapeError reports a condition or criteria that cannot mean anything: a wrong type, an operator without its
// operand, a regular expression that does not compile. The workflow API answers it with code -32004.
type ShapeError struct {
	Path   string // JSON pointer from the value that was parsed, "" for the value itself
	Reason string // what is wrong there, for the author of the file
}

func (e *ShapeError) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// A SchemaError reports a JSON Schema in a rule that is not a JSON Schema this package can carry out. The workflow API
// answers it with code -32002.
type SchemaError struct {
	Path string // JSON pointer to the schema from the criteria that were parsed
	Err  error  // what is wrong with it
}

func (e *SchemaError) Error() string { return fmt.Sprintf("%s: JSON Schema: %v", e.Path, e.Err) }

func (e *SchemaError) Unwrap() error { return e.Err }

// An UndecidedError reports a condition that could not be evaluated: a test of a variable took too long.
type UndecidedError struct {
	Variable string
	Pattern  string // that the variable was to match
	Err      error  // why it is not known whether it does
}

func (e *UndecidedError) Error() string {
	return fmt.Sprintf("it could not be judged whether the variable %q matches %s: %v", e.Variable, e.Pattern, e.Err)
}

func (e *UndecidedError) Unwrap() error { return e.Err }
