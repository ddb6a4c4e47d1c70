# The commands of the project. `make` alone lists them.
#
# build and demo need Go; test also needs Node 20 or later with npm, because it puts workbench between the
# official MCP servers, the official clients and the official conformance suite, which it installs by itself from
# test/npm/package-lock.json. The suite wants Node 22, which comes with it on Linux x64; elsewhere it is skipped under an
# older Node.

.DEFAULT_GOAL := help
.PHONY: help build demo demo-servers demo-picture test tests test-under-load servers lint cross bench knots fuzz chaos adversary soak wine package clean node

# How long `make fuzz` stays on each target and `make soak` and `make adversary` go on, and what `make bench` is told, such as BENCH=--quick.
FUZZTIME ?= 10s
DURATION ?= 10m
BENCH ?=
# How often `make test-under-load` runs the tests: quietly, beside two busy loops, and with slow syncs.
LOAD ?= -quiet 20 -busy 5 -sync 5

NPM := test/npm
# Written after a complete install, so an interrupted one is done again; older than the lock means the lock changed.
NPM_INSTALLED := $(NPM)/node_modules/.installed

SERVERS := test/servers
SERVERS_INSTALLED := $(SERVERS)/node_modules/.installed

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

build: ## build bin/workbench, static, for this machine
	CGO_ENABLED=0 go build -trimpath -o bin/workbench ./cmd/workbench

# The servers are those of the Go SDK for MCP, of the version that the tests have, and one that lists and reads files.
SDK_SERVERS := memory sequentialthinking everything
demo-servers: build
	@mkdir -p bin/demo
	@CGO_ENABLED=0 go build -trimpath -o bin/demo/ ./demo/files
	@CGO_ENABLED=0 go build -C test/sdks/gosdk -trimpath -o $(CURDIR)/bin/demo/ \
		$(SDK_SERVERS:%=github.com/modelcontextprotocol/go-sdk/examples/server/%)

demo: demo-servers ## build it and show what it does, step by step (needs Go only)
	@bin/workbench demo --config demo/workbench-config.json

demo-picture: demo-servers ## write docs/demo.svg from what the demo prints
	bin/workbench demo --config demo/workbench-config.json | go run ./demo/picture > docs/demo.svg

# A program built with -race would sleep a second at its end. SQLite and QuickJS, which programs have translated from C, are
# left out of what -race watches: their tests take five times as long there. No package with generic code may be left out:
# it has code of sync without what -race watches, and the linker may take that for all. DRIVERS are the packages whose
# tests run built programs: there -race would watch the drivers alone, and it makes large messages dear. A test holds that
# none but those that measure have a part of workbench in their own process. Half as many packages again as there are
# processors are tested at a time, since some tests wait. That go vet finds nothing is seen by lint.
#
# go test keeps the results of packages that have not changed, which what builds programs cannot have: it would not see
# whether those have. TESTFLAGS=-count=1 runs everything.
GO_TEST := env WORKBENCH_REQUIRE_NPM=1 GORACE=atexit_sleep_ms=0 go test -vet=off -timeout 10m \
	-p $$(( ($$(getconf _NPROCESSORS_ONLN) * 3 + 1) / 2 ))
DRIVERS := (mcp-workbench/workbench$$|/bench(/|$$)|/test/(adversary|chaos|clock|conformance|e2e|fakeserver|faults|knots|page|release|sdks|servers|underload|wine|wiretest)(/|$$))
PACKAGES ?= ./...
test: lint tests ## check everything (needs Go and Node 20+)

tests: $(NPM_INSTALLED)
	@set -e; red=0; packages="$$(go list $(PACKAGES))"; \
	drivers="$$(echo "$$packages" | grep -E '$(DRIVERS)' || :)"; others="$$(echo "$$packages" | grep -Ev '$(DRIVERS)' || :)"; \
	test -z "$$others" || $(GO_TEST) -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libquickjs=-race=false \
		$(TESTFLAGS) $$others || red=1; \
	test -z "$$drivers" || CGO_ENABLED=0 $(GO_TEST) -count=1 -trimpath $(TESTFLAGS) $$drivers || red=1; \
	exit $$red

test-under-load: $(NPM_INSTALLED) ## run the tests LOAD="-quiet 20 -busy 5 -sync 5" times under each load, for hours
	go run ./test/underload $(LOAD)

# No -v and no package named: go test then passes on what the test prints as it stands, which is a table.
servers: $(SERVERS_INSTALLED) $(NPM_INSTALLED) ## try forty servers and three agents of npm, in minutes (needs Node 22, or any on Linux x64)
	cd $(SERVERS) && WORKBENCH_SERVERS=1 go test -count=1 -timeout 40m
	WORKBENCH_REQUIRE_NPM=1 go test -count=1 -run '^TestServer$$' ./test/conformance -without-workbench

lint: ## check format and vet
	@unformatted="$$(find . -name node_modules -prune -o -name '*.go' -exec gofmt -l {} +)"; \
	if [ -n "$$unformatted" ]; then echo "not formatted, run gofmt -w on:"; echo "$$unformatted"; exit 1; fi
	CGO_ENABLED=0 go vet -trimpath ./...

# Nobody runs what is compiled here, so the compiler is spared a third of its work.
FOR_NOBODY := -gcflags='all=-N -l'
cross: ## compile and vet for Windows and macOS
	CGO_ENABLED=0 GOOS=windows go vet $(FOR_NOBODY) ./...
	CGO_ENABLED=0 GOOS=windows go build $(FOR_NOBODY) -o bin/cross/ ./cmd/workbench
	CGO_ENABLED=0 GOOS=darwin go vet $(FOR_NOBODY) ./...
	CGO_ENABLED=0 GOOS=darwin go build $(FOR_NOBODY) -o bin/cross/ ./cmd/workbench

wine: ## run tests as programs of Windows, in minutes (needs Go, wine and wine64)
	go run ./test/wine

bench: ## measure workbench beside a bare relay and others, and draw bin/bench.svg (BENCH=--quick: under a minute; BENCH=--help)
	@mkdir -p bin
	go run ./bench --plot bin/bench.svg $(BENCH)

knots: ## print how the files of each package hang together, and which types are large
	go run ./test/knots

fuzz: ## fuzz every target, each for FUZZTIME=10s, and draw a million hostile names and 10,000 workflows
	WORKBENCH_DRAWS=1000000 go test -count=1 -run TestHostileNames ./proxy
	go test -count=1 -run TestOrderOfDrawnWorkflows ./workflowsrv/stepping -args -draws 10000
	@set -e; for package in $$(go list ./...); do \
		found="$$(go test -list '^Fuzz' "$$package")"; \
		for target in $$found; do case "$$target" in Fuzz*) \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package"; \
		esac; done; \
	done

# As for servers: in the folder itself go test passes on what the test prints.
chaos: ## end, crash and flood it for minutes, and print goals and figures (needs Go and Linux)
	cd test/chaos && WORKBENCH_CHAOS=1 go test -count=1 -timeout 60m -run TestChaos
	WORKBENCH_CHAOS=1 go test -count=1 -timeout 60m ./test/clock
	WORKBENCH_CHAOS=1 go test -count=1 -timeout 60m -run TestFaultE ./internal/store
	WORKBENCH_CHAOS=1 go test -count=1 -timeout 60m -run 'TestKilledAtWrites|TestSeveralOnOneRun|TestPowerCut' -v ./workflowsrv/runs

# In the folder itself go test prints each run as it ends; WORKBENCH_ADVERSARY_SEED plays one again.
adversary: ## let random servers and clients do their worst for DURATION=10m (needs Go and Linux)
	cd test/adversary && WORKBENCH_ADVERSARY=$(DURATION) go test -count=1 -timeout 0 -run TestAdversary

soak: ## load it with calls and faults for DURATION=10m, and print how it grows (needs Go and Linux)
	cd test/chaos && WORKBENCH_SOAK=$(DURATION) go test -count=1 -timeout 0 -run TestSoak

# The version of goreleaser is the last whose own modules are all to be had.
package: ## build the packages of a release into dist/, publishing nothing (needs Go and Node 20+)
	go run github.com/goreleaser/goreleaser/v2@v2.14.0 release --snapshot --clean
	node release/npm/pack.js dist

clean: ## remove what these commands made
	rm -rf bin dist dist-man $(NPM)/node_modules $(SERVERS)/node_modules

# One line and exit status 2 when the tests cannot run here; $(error) adds nothing of make's own to it.
node:
	$(if $(shell node -p 'Number.parseInt(process.versions.node) >= 20 || ""' 2>/dev/null),,$(error Node 20 or later \
	is needed and was $(or $(shell node --version 2>/dev/null),not found): get it from nodejs.org or your package manager))
	$(if $(shell npm --version 2>/dev/null),,$(error npm is needed and was not found: it comes with Node \
	from nodejs.org, and as the package npm of your package manager))
	@:

$(NPM_INSTALLED): $(NPM)/package.json $(NPM)/package-lock.json $(NPM)/.npmrc | node
	cd $(NPM) && npm ci --loglevel=error
	@touch $@

# Not npm ci, which wants the packages of every system in the lock file, those of agents that cannot be had here too.
$(SERVERS_INSTALLED): $(SERVERS)/package.json $(SERVERS)/package-lock.json $(SERVERS)/.npmrc | node
	cd $(SERVERS) && npm install --no-save --loglevel=error
	@touch $@
