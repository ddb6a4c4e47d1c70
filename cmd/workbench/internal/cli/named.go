package cli

import "errors"

// Named is the value of a flag that names something: empty, as an unset variable of a shell leaves it, it names nothing,
// and is not to mean the same as no flag.
type Named string

func (n *Named) String() string { return string(*n) }

// Set implements [pflag.Value].
func (n *Named) Set(text string) error {
	if text == "" {
		return errors.New("it is empty")
	}
	*n = Named(text)
	return nil
}

// Type implements [pflag.Value].
func (*Named) Type() string { return "string" }
