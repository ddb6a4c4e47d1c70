// Package page tests the page of workbench in a browser, as people have it: the built program, real servers and
// clients, and Chromium without a window. It also has a host of MCP Apps, as small as the official bridge allows, show
// the official examples that stand behind workbench.
//
// Without Chromium the tests are skipped, or with WORKBENCH_REQUIRE_CHROMIUM=1 they fail. WORKBENCH_CHROMIUM names the
// program, where it is not found as chromium, chromium-browser or google-chrome. With WORKBENCH_SCREENSHOTS=DIR they
// leave pictures of the views in that folder.
package page
