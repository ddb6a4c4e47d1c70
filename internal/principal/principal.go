// Package principal names who a request is made for. The front verifies who that is and puts the principal into the
// request's context, where whatever answers the request finds it.
//
//	ctx = principal.With(ctx, principal.Principal{Name: "ci", Toolboxes: []string{"dev"}})
//	…
//	if !principal.From(ctx).May("prod") { … }
package principal

import (
	"context"
	"slices"
)

// Default is the name of who works with workbench alone: over stdio, or with the token that workbench made for itself.
const Default = "default_user"

// Principal is who a request is made for. Values are compared by Name: two tokens with one name are the same party.
type Principal struct {
	Name      string
	Admin     bool     // may act for others
	Toolboxes []string // which it may use; nil = all, empty = none
}

// May reports whether p may use a toolbox.
func (p Principal) May(toolbox string) bool {
	return p.Toolboxes == nil || slices.Contains(p.Toolboxes, toolbox)
}

// DeniedError says why a token stands for nobody.
type DeniedError struct {
	Reason string // for who sent the token, without anything of it
}

func (e *DeniedError) Error() string { return e.Reason }

type key struct{}

// With returns a context whose requests are made for p.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, key{}, p)
}

// From returns who the requests of a context are made for: whom [With] named, or else [Default] without admin rights
// and with all toolboxes, as over stdio.
func From(ctx context.Context) Principal {
	if p, ok := ctx.Value(key{}).(Principal); ok {
		return p
	}
	return Principal{Name: Default}
}
