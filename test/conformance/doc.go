// Package conformance runs the official conformance suite, @modelcontextprotocol/conformance, with workbench between
// its two halves: its server part calls workbench over HTTP, behind which stands the server of the package fixture; for
// its client part, a client speaks to workbench over stdio, behind which stands the server of the suite.
//
// The suite comes from test/npm, which make test installs, and needs Node 22 or later, which on Linux x64 is installed
// with it. Without them the tests are skipped, or with WORKBENCH_REQUIRE_NPM=1 they fail. With -v they print how many
// scenarios of each revision passed. The program is built by the tests, which the cache of test results cannot see: run
// them with
// -count=1.
package conformance
