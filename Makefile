# Two commands do everything: make site, make test. Neither needs a set-up step.
.PHONY: site test nightly
NPM = cd site && npm ci --ignore-scripts --no-audit --no-fund --silent

site: ## score every anchor unit, build and sign the site in public/
	$(NPM) || echo "npm is not available: charts stay static"
	go run ./cmd/blis-score

test: ## every check that fits in minutes
	command -v chromium >/dev/null && command -v qemu-aarch64 >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium qemu-user; }
	$(NPM)
	test -z "$$(gofmt -l $$(git ls-files '*.go' | grep -v /testdata/))"
	go vet ./...
	go vet -vettool="$$(go tool -n blisvet)" ./...
	BLIS_REQUIRED=1 go test ./...

nightly: test ## long fuzzing, the mutation sweep, scaling runs, coverage repeats, cosign; every rule's break
	BLIS_REQUIRED=1 BLIS_NIGHTLY=1 go test -timeout 5h ./...
	go run ./cmd/blis invariants check --run $(RULES)
