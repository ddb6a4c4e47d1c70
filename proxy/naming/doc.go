// Package naming says who is meant by a name or a uri, and under which name clients see what a server has.
//
//	Spaces ──► Directory ──► Route      tools, prompts: whose a full name is follows from the configuration
//	Claims ──► Directory                what a server chose is held for it until the session ends
//	Claims ──► Places ─────► Server     resources, pages of apps, files of skills
//
// [Directory] and [Places] are made anew whenever a list of a server changes, from what the servers list then; [Claims]
// live as long as the session, and the [Spaces] grow with each configuration. The package knows no session and starts
// nothing. Directories and places never change once they are made; claims have a lock, below which nothing is called.
package naming
