// Package shelf keeps the toolboxes of one client, and what the client sees of them.
//
//	Shelf ──► Box ──► toolbox.Toolbox     opened, woken for a pinned tool, or filled anew by a reload
//	  │
//	  └────► Routes                       names, uris and lists, made anew when something changes
//
// A [View] is what is served by one configuration: a reload gives the shelf another. [Routes] are never changed once
// they are made, and are read without a lock. The package knows no session: whose the shelf is tells the client what
// the shelf announces ([Options]). The lock of a shelf is held while a toolbox is made, which starts nothing, and while
// routes are; it is not held while a server or the client is called.
package shelf
