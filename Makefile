# pratique: the commands a developer needs.

# Known-answer vectors, real tool lists and the corpus of inspection live beside the checkout; tests that
# want them skip by name where they are not set.
PRATIQUE_VECTORS   ?= $(abspath $(wildcard ../shared/vectors))
PRATIQUE_TOOLLISTS ?= $(abspath $(wildcard ../shared/data))
PRATIQUE_CORPUS    ?= $(abspath $(wildcard ../shared/corpora/dev))
# Real MCP servers and clients from npm; make npm installs them here.
PRATIQUE_NPM       ?= $(CURDIR)/.npm
export PRATIQUE_VECTORS PRATIQUE_TOOLLISTS PRATIQUE_CORPUS PRATIQUE_NPM

GO ?= go

.PHONY: up build npm try bench-gateway bench-inspect bench-policy eval test peers race vet cross staticcheck vulncheck fuzz long bench outside lint-api generate

up:
	$(GO) run ./cmd/pratique up

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/pratique ./cmd/pratique

# The npm packages that tests run, pinned by a lock file, in a folder of their
# own. Their install scripts are not run.
npm: .npm/ready
.npm/ready: examples/peers/npm/package-lock.json $(wildcard examples/peers/npm/*.mjs)
	rm -rf .npm && mkdir .npm && cp examples/peers/npm/* .npm/
	cd .npm && npm ci --no-audit --no-fund --ignore-scripts
	touch $@

# The official conformance suite, and real servers and clients, through the gateway
# and without it.
peers: npm
	$(GO) test -count 1 -v -timeout 20m ./examples/peers

# A story to try on real parts: paste a task and what a stranger wrote, and see what
# an agent does with and without Pratique. For a model: PRATIQUE_TRY_URL (an
# OpenAI-compatible API), PRATIQUE_TRY_MODEL, PRATIQUE_TRY_KEY_FILE; without one a
# worst-case agent acts. ARGS="-task FILE -injection FILE" asks nothing.
STORY ?= gitlab
try: npm build
	@$(GO) run ./examples/$(STORY) -pratique bin/pratique $(ARGS)

# Everything that a change must pass; under five minutes on two cores. Installs
# what tests need beside Go: Node 22, real servers and clients, from npm. Many of them
# wait for processes, so that more run at once than there are cores.
test: npm
	$(GO) build ./...
	$(GO) test -parallel 4 -timeout 10m ./...

race: export PRATIQUE_NPM =
race:
	$(GO) test -race -timeout 20m ./...

vet:
	$(GO) vet ./...
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "not gofmt-ed"; exit 1; }

# The platforms that are built, not run.
cross:
	GOOS=darwin GOARCH=arm64 $(GO) build ./...
	GOOS=windows GOARCH=amd64 $(GO) build ./...

staticcheck:
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

vulncheck:
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

# A few thousand inputs per target; FUZZTIME=5m for a long look. Counted in
# inputs, since a run that ends by time can fail on the input it was at.
FUZZTIME ?= 4000x
fuzz:
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "fuzz $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 0x $$p; done; done

# Soaks, thousand-fold changes, hundreds of kills.
long: export PRATIQUE_NPM =
long:
	$(GO) test -tags long -skip Soak -timeout 40m ./...

# Outside judges: Tessera's fsck on the served log, a linter on the OpenAPI
# document.
outside: lint-api
	PRATIQUE_OUTSIDE=1 $(GO) test -count 1 -v -run Outside ./registry/ledger

lint-api:
	npx --yes @redocly/cli@2.77.0 lint registry/api/openapi.json

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

generate:
	$(GO) generate ./...

# What a call costs through the gateway, in one run with the direct call.
bench-gateway:
	$(GO) run ./examples/bench

# What an inspection costs, in one run with a plain scan of memory.
bench-inspect:
	$(GO) run ./examples/benchinspect

# What a decision costs, in one run with encoding/json decoding its frame.
bench-policy:
	$(GO) run ./examples/benchpolicy

# What the inspector finds and what it flags in vain, on a corpus of labelled texts:
# trained anew for each part on the sources of the others.
eval:
	$(GO) run ./cmd/pratique eval --corpus "$(PRATIQUE_CORPUS)"
