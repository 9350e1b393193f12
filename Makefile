# Everything a newcomer needs. Each target brings what it needs to a fresh Debian machine (as root or with sudo) and
# says plainly what is missing elsewhere. One build profile (release) serves the demo, the tests and the benchmarks.

export PATH := $(HOME)/.cargo/bin:$(PATH)
TARGET := $(or $(CARGO_TARGET_DIR),target)
# The whole workspace, so that every target sees the same features and nothing is compiled twice.
BUILD := cargo build --release --workspace --bins
LISTEN := 127.0.0.1:8080

help: ## say what there is
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

demo: setup ## build, and serve examples/demo on 127.0.0.1:8080
	$(BUILD)
	@printf '%s\n' '' 'Try, in a browser or with curl:' \
	  '  http://$(LISTEN)/' \
	  "  curl 'http://$(LISTEN)/api/tables/uk_cities?columns=city,lat,lng&limit=2'" \
	  "  curl 'http://$(LISTEN)/api/tables/launches.csv?sort=-date_utc&limit=5'" \
	  "  curl http://$(LISTEN)/api/sql -d 'select r.name, count(*) launches from launches l join rockets r on r.id = l.rocket group by 1 order by 2 desc'" \
	  "  curl http://$(LISTEN)/api/graphql -d '{ uk_cities(limit: 2) { city lat lng } }'" \
	  "  curl http://$(LISTEN)/api/kv/launch_name/600f9a8d8f798e2a4d5f979e" ''
	$(TARGET)/release/salver serve --listen $(LISTEN) examples/demo

test: setup-test ## run everything that must pass: rustfmt, tidy, clippy, examples, all tests
	cargo xtask check

build: setup ## build the binary: target/release/salver
	$(BUILD)

bench: setup-bench ## measure against ROAPI, PocketBase and others in one run; keeps the raw numbers in bench/results
	$(BUILD)
	@[ -x .bench/venv/bin/python ] || python3 -m venv .bench/venv
	.bench/venv/bin/pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	.bench/venv/bin/python bench/run.py --salver $(TARGET)/release/salver $(BENCH)

docs: setup ## write the generated pages of docs/ again
	cargo xtask docs

site: setup ## build the documentation as a site with search: .site/html/index.html
	@sh xtask/setup.sh site
	cargo xtask site
	@echo 'To read it: python3 -m http.server --directory .site/html'

packages: setup-packages ## make the packages of a release, and a list of what is in them: dist/
	$(BUILD)
	packaging/sbom.sh dist/salver.cdx.json
	packaging/deb.sh $(TARGET)/release/salver dist dist/salver.cdx.json
	packaging/wheel.sh $(TARGET)/release/salver dist dist/salver.cdx.json

setup:
	@sh xtask/setup.sh

setup-packages:
	@sh xtask/setup.sh packages

setup-test:
	@sh xtask/setup.sh test

setup-bench:
	@sh xtask/setup.sh bench

.PHONY: help demo test build bench docs site packages setup setup-packages setup-test setup-bench
