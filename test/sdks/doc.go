// Package sdks holds the test of workbench between clients of both eras and real servers of the official SDKs, of both
// eras and over each transport. The server of the Go SDK is a module of its own in gosdk, those of the TypeScript SDKs
// are ../npm/server.mjs. That of the Python SDK is server.py; it is tried where python3 has the packages for it.
package sdks
