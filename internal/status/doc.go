// Package status is how a running workbench tells another process of the same user where it stands: the document, and
// the local socket it is read from.
//
// Each process that serves has one socket, PID.sock, in a folder that only its user can enter. On it HTTP is spoken:
//
//	GET /status        a Workbench
//	GET /status?watch  the same, then again at each change, one on a line
//	GET /metrics       what Prometheus reads
//	GET /calls         the record of calls, as package calls has it
//	/servers/…         what one server wrote to standard error, and its restart (localfront.Servers)
//	/guests/…          calls of other programs, which the front answers (localfront.Guests)
//
// [Listen] makes the socket and [Serve] answers on it; [Find] gives the workbenches that there are, and [Peer] asks
// one.
package status
