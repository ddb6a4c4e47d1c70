// Package e2e tests the built program between real peers: the official npm servers (everything, filesystem, memory)
// behind it, and in front of it a client on the raw wire (test/wiretest) or the official TypeScript clients. What a
// server says through workbench is compared with what the same server says directly.
//
// The servers and clients come from test/npm, which make test installs. Without them the tests are skipped, or with
// WORKBENCH_REQUIRE_NPM=1 they fail. The program is built by the tests, which the cache of test results cannot see: run
// them with -count=1.
package e2e
