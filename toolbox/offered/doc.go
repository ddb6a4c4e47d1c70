// Package offered knows what one server offers: the lists that it gave, and what is left of them for clients by the
// filters, the rules and the lock file of the configuration.
//
//	raw lists ──► Read ──► Reading ──► Lists.Store ──► filters ──► pins ──► rules ──► Lists.Items, Lists.Held
//
// The package starts nothing, sends nothing and waits for nothing: whoever reads a list asks the server and gives the
// answers to [Read]. [Lists] has one lock, under which nobody else is called but the account and what hides secrets.
package offered
