# The entry point. Every target works on a fresh Debian 12: it first installs missing packages.
#
#   make build    build/bin/sallyport                make run     build, then watch the demo and an agent
#   make test     everything CI checks               make bench   measure
#   make install  PREFIX=/usr/local DESTDIR=         make lint    format, tree rules, clang-tidy; CHANGED=1
#   make status   rewrite docs/status.md             make fuzz    FUZZ_SECONDS=600
#   make format   apply clang-format                 make mutants COUNT=50 SEED=
#   make deb      a Debian package in OUT=build     make clean
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
.PHONY: build run test bench lint install deb fuzz mutants status format clean

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
COUNT ?= 50
SEED ?=
JOBS ?= $(shell nproc)
DEPS := @tools/install-deps.sh

# These are shell commands, so that they run after git is installed. `make lint CHANGED=1`: clang-tidy reads only the
# sources that differ from HEAD.
SOURCES := find include src tests bench -name '*.cc' -o -name '*.h'
CHANGED ?=
CHANGED_SOURCES := { git diff --name-only --diff-filter=d HEAD -- '*.cc'; git ls-files -o --exclude-standard '*.cc'; }

# The product alone needs neither GoogleTest nor Google Benchmark. A build folder that is configured for them stays configured.
build:
	$(DEPS) build
	@[ -f build/build.ninja ] || cmake --preset release -DSALLYPORT_TESTS=OFF -DSALLYPORT_BENCH=OFF
	@cmake --build --preset release -j $(JOBS) --target sallyport

run: build
	@build/bin/sallyport demo
	@examples/agent/run.sh build/bin/sallyport

test:
	@JOBS=$(JOBS) tools/run-tests.sh

bench:
	$(DEPS) build bench
	@cmake --preset release -DSALLYPORT_BENCH=ON $$([ -f build/build.ninja ] || echo -DSALLYPORT_TESTS=OFF)
	@cmake --build --preset release -j $(JOBS) --target sallyport sallyport_bench make_ledger
	@build/bin/sallyport_bench
	@python3 bench/model_bench.py
	@python3 bench/agent_bench.py
	@python3 bench/console_bench.py
	@python3 bench/cluster_bench.py

install: build
	@cmake --build --preset release -j $(JOBS) --target sallyport_library
	@cmake --install build --prefix "$(PREFIX)"

# A Debian package of the program in OUT.
OUT ?= build
deb: build
	$(DEPS) deb
	@tools/make-deb.sh build "$(OUT)"

# clang-tidy spends most time on library headers, so it reads a dozen sources as one unit if they are built that way.
# `CHANGED=1` reads each source alone and without precompiled headers, which reveals a source that depends on them.
TIDY_WHOLE := -DSALLYPORT_UNITY=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=OFF
TIDY_ALONE := -DSALLYPORT_UNITY=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
TIDY_UNITS := /Unity/|/(src|tests|bench)/.*\.cc$$
TIDY_NEEDS := generated/engine_digest.cc src/CMakeFiles/sallyport_base.dir/cmake_pch.hxx.pch \
  tests/CMakeFiles/sallyport_test_support.dir/cmake_pch.hxx.pch

lint:
	$(DEPS) build test bench lint
	@$(SOURCES) | xargs clang-format-19 --dry-run -Werror
	@python3 tools/check_tree.py
	@cmake --preset dev -B build/tidy $(if $(CHANGED),$(TIDY_ALONE),$(TIDY_WHOLE)) --log-level=WARNING >/dev/null
	@$(if $(CHANGED),:,ninja -C build/tidy --quiet $(TIDY_NEEDS))
	@files=$(if $(CHANGED),"$$($(CHANGED_SOURCES))",'$(TIDY_UNITS)'); \
	  [ -z "$$files" ] || run-clang-tidy-19 -quiet -p build/tidy -j $(JOBS) $$files 2>&1 | sed '/warnings generated\.$$/d; /^$$/d'

# One fuzz program, named by $0: starts from its corpus in the tree, keeps new inputs and findings in build/fuzz.
define FUZZ_ONE
name=$${0#fuzz_} log=build/fuzz/$$0.log corpus=tests/fuzz/corpus/$${0#fuzz_}
mkdir -p build/fuzz/corpus-new/$$name build/fuzz/findings
[ -d $$corpus ] || corpus=
if build/fuzz/bin/$$0 -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/findings/$$name- build/fuzz/corpus-new/$$name $$corpus >$$log 2>&1; then
  echo "$$0: no finding in $$(sed -n 's/^stat::number_of_executed_units: *//p' $$log) runs"
else
  tail -n 40 $$log; echo "$$0: FINDING, see $$log and build/fuzz/findings"; exit 1
fi
endef
export FUZZ_ONE

fuzz:
	$(DEPS) build test
	@cmake --preset fuzz --log-level=WARNING
	@programs=$$(ninja -C build/fuzz -t targets all | sed -n 's,^\(bin/fuzz_[^:]*\): .*,\1,p'); \
	  [ -n "$$programs" ] || { echo "there are no fuzz programs"; exit 1; }; \
	  cmake --build --preset fuzz -j $(JOBS) --target $$programs; \
	  printf '%s\n' $$programs | sed 's,^bin/,,' | xargs -P 2 -I{} bash -c "$$FUZZ_ONE" {}

mutants:
	$(DEPS) build test
	@python3 tools/mutants.py --count $(COUNT) $(if $(SEED),--seed $(SEED))

status:
	$(DEPS) test
	@python3 tools/make_status.py

format:
	$(DEPS) lint
	@$(SOURCES) | xargs clang-format-19 -i

clean:
	@rm -rf build
