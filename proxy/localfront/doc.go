// Package localfront answers other programs of the same user, which reach this process by its local socket (package
// status): what the servers of open toolboxes wrote, their restart, and calls beside those of the client.
package localfront
