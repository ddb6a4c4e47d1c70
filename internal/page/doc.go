// Package page serves the page of workbench to a browser: its files, and what it asks for.
//
// Whoever has a credential enters with it and is given two secrets: a cookie that no script reads, and a word that only
// the scripts of this origin can read and that each request carries in a header. One of them alone opens nothing: the
// browser sends a cookie to every port of a host, and with requests that pages of others make.
//
//	GET  /ui/          the page and its files, which are the same for everybody and hold no secret
//	POST /ui/api/enter {"credential"}: lets a viewer in, with the answer {"secret", "name", "admin"}
//	POST /ui/api/leave ends the session
//	POST /ui/api/NAME  has the [Action] of that name carried out
//
// An answer is lines of JSON: any number of {"note": …}, then {"done": …} or {"error": {"message", "hint"}}. Empty
// lines between them are signs of life. Who may come in, and what the actions do, the maker of a [Page] says; which
// hosts and origins may ask at all is for the server that the page is part of.
package page
