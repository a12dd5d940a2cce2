# The front end; CMake (CMakeLists.txt) does the work. `make help` lists the targets. Variables:
#   DEPS=no      do not install missing packages
#   WITH="PACKAGE ..."   optional libraries to install first: libsentencepiece-dev, "libsndfile1-dev libkissfft-dev",
#                libopenmpi-dev, zlib1g-dev, libzstd-dev; what is installed is used
#   BUILD=DIR    where to build (default: build); to use another compiler, give it its own: CXX=clang++ BUILD=build-clang
#   JOBS=N       parallel compilations (default: one per core)
#   SECONDS=60 TARGETS="settings ..."   for `make fuzz`: seconds for each target
#   THREADS=N PEERS="PYTHON ..." ONLY="RECIPE ..."   for `make bench`: see docs/speed.md
#   ONLY=3       for `make tour`: a chapter; TOUR=solutions grades the solutions
#   GPU_BUILD=DIR   for `make gpu-first`, `gpu-visit`, `gpu-check` and `gpu-bench`: the programs to use (default: build-gpu)
#   TRAIN="--recipe R --data DIR ..."   for `make gpu-visit`: what to train
#   PREFIX=/usr/local DESTDIR=   for `make install`
#   CMAKE=...    more arguments for CMake's configuration, e.g. CMAKE=-DRONDO_CUDA=ON
BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
DEPS ?= yes
CMAKE ?=
PREFIX ?= /usr/local

, := ,
# A blank would make several names of one, also for `rm -rf` in `make clean`.
ifneq "$(words $(BUILD))$(BUILD)" "1$(firstword $(BUILD))"
$(error BUILD='$(BUILD)': give the name of one folder, without blanks)
endif
MAKEFLAGS += --no-print-directory
SANITIZED := $(BUILD)-sanitize
SECONDS ?= 60
FUZZ_BUILD := build-fuzz
CLANG = $(shell command -v clang++-14 || command -v clang++)
CUDA_BUILD := build-cuda
GPU_BUILD ?= build-gpu
GPU_PROGRAMS := lm bench gpu_probe rondo_tests rondo_tests_double rondo_tests_cuda rondo_tests_cuda_double
SOURCES = git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' '*.cc' '*.cu'
CLANG_FORMAT = $(shell command -v clang-format-14 || (clang-format --version 2>/dev/null | grep -q 'version 14\.' && echo clang-format))

configure = cmake -S . -B $(1) $(CMAKE) $(2) --log-level=NOTICE
compile = cmake --build $(1) --parallel $(JOBS) --target $(2)
# One more at a time than there are cores: many tests wait for other processes. Their files are in memory, if there are
# 4 GB for them: runs sync each file that they write, and a disk would let them wait.
run_tests = [ -z "$$TMPDIR" ] && [ "$$(df --output=avail /dev/shm 2>/dev/null | tail -1)" -gt 4000000 ] 2>/dev/null && export TMPDIR=/dev/shm; \
 ctest --test-dir $(1) --output-on-failure --no-tests=error --parallel $$(($(JOBS) + 1))

.PHONY: all help deps deps-test run everything test tour install install-double bench check check-format check-tidy check-cuda check-sanitize \
        check-aarch64 check-threads format docs tables clean build-gpu gpu-programs gpu-first gpu-visit gpu-check gpu-bench gpu-registers fuzz faults

all: deps  ## build the program: build/bin/lm
	@$(call configure,$(BUILD))
	@$(call compile,$(BUILD),lm)

run: all  ## train the demo on Rondo's own sources, then sample from it: a minute or two
	$(BUILD)/bin/lm train --recipe demo

everything: deps-test  ## build everything that `make test` runs
	@$(call configure,$(BUILD))
	@$(call compile,$(BUILD),all)

test: everything  ## build everything and run all tests
	@$(call run_tests,$(BUILD))

tour:  ## build the library's core and the exercises of docs/tour, and grade them; ONLY=3: a chapter
	@[ "$(DEPS)" = no ] || .ci/dependencies libgtest-dev
	@[ -z "$(ONLY)" ] || [ -e tests/tour/exercises/$(ONLY)_*.h ] || { echo "tour: no chapter $(ONLY): give one number" >&2; exit 2; }
	@cmake -S tests/tour -B $(BUILD)-tour -DTOUR=$(or $(TOUR),exercises) -DONLY=$(ONLY:=_) --log-level=NOTICE
	@$(call compile,$(BUILD)-tour,tour)
	@$(BUILD)-tour/bin/tour --gtest_brief=1

install: deps  ## install lm, and the library for find_package(rondo), below PREFIX
	@$(call configure,$(BUILD))
	@$(call compile,$(BUILD),to_install)
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

install-double: deps  ## install the library in double as well, for gradient checks: rondo::rondo_double
	@$(call configure,$(BUILD))
	@$(call compile,$(BUILD),rondo_double)
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)" --component double

bench: deps  ## measure speed, where the time goes, and memory, beside PyTorch's
	@$(call configure,$(BUILD))
	@$(call compile,$(BUILD),bench)
	python3 bench/bench.py $(BUILD)/bin/bench $(if $(THREADS),--threads $(THREADS)) $(PEERS:%=--peer %) $(ONLY)

check: check-format check-tidy docs check-cuda check-aarch64 check-sanitize check-threads  ## format, clang-tidy, the API reference, the CUDA pass, aarch64, sanitizers

check-format:
	@[ "$(DEPS)" = no ] || .ci/dependencies --check
	@if [ -z "$(CLANG_FORMAT)" ]; then echo 'format: skipped, needs clang-format 14 (others differ)'; \
	 else $(SOURCES) | xargs -r $(CLANG_FORMAT) --dry-run -Werror && echo 'format: clean'; fi

check-tidy: deps-test
	@[ "$(DEPS)" = no ] || .ci/dependencies --check
	@.ci/tidy $(JOBS)

check-cuda: deps-test
	@$(call configure,$(BUILD))
	@$(call compile,$(BUILD),rondo_cuda)

check-aarch64: deps-test
	@[ "$(DEPS)" = no ] || .ci/dependencies --check
	@if ! command -v aarch64-linux-gnu-g++ >/dev/null || ! command -v qemu-aarch64 >/dev/null; then \
	 echo 'aarch64: skipped, needs g++-aarch64-linux-gnu and qemu-user'; \
	 else cmake -S tests/aarch64 -B $(BUILD)-aarch64 --log-level=NOTICE && $(call compile,$(BUILD)-aarch64,all) && $(call run_tests,$(BUILD)-aarch64); fi

# By clang if there is one, so that both compilers compile everything.
sanitize = -DRONDO_CUDA=OFF -DRONDO_SANITIZE=$(1) -DCMAKE_CXX_COMPILER=$(or $(CLANG),$(CXX))
check-sanitize: deps-test
	@[ "$(DEPS)" = no ] || .ci/dependencies --check
	@$(call configure,$(SANITIZED),$(call sanitize,address$(,)undefined))
	@$(call compile,$(SANITIZED),all)
	@$(call run_tests,$(SANITIZED))

# The tests of threads, except those that fork, which this sanitizer does not support; of long texts, which threads read;
# and of a training on two threads, of a model so large that they share its loops and products.
check-threads: deps-test
	@[ "$(DEPS)" = no ] || .ci/dependencies --check
	@$(call configure,$(BUILD)-threads,$(call sanitize,thread))
	@$(call compile,$(BUILD)-threads,threads_test)
	@$(BUILD)-threads/bin/threads_test --gtest_brief=1 --gtest_filter=-*Forked*:*SystemGives

# The corpus stays in build-fuzz/corpus, and the next call continues from it.
fuzz: deps-test  ## search for inputs that break a reader, for SECONDS=60 each; needs clang and its libFuzzer
	@[ "$(DEPS)" = no ] || .ci/dependencies --fuzz
	@echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' | \
	 $(or $(CLANG),clang++) -x c++ -fsanitize=fuzzer,address - -o /dev/null 2>/dev/null || \
	 { echo 'fuzz: needs clang with libFuzzer: install clang-14 and libclang-rt-14-dev' >&2; exit 1; }
	@$(call configure,$(FUZZ_BUILD),-DCMAKE_CXX_COMPILER=$(CLANG) -DRONDO_CUDA=OFF -DRONDO_SANITIZE=fuzzer-no-link$(,)address$(,)undefined)
	@$(call compile,$(FUZZ_BUILD),fuzz)
	@python3 tests/fuzz/fuzz.py $(FUZZ_BUILD)/bin/fuzz $(SECONDS) $(FUZZ_BUILD) $(TARGETS)

faults: deps-test  ## every fault at every I/O call, random kills, thousands of damaged files: some minutes
	@$(call configure,$(BUILD))
	@$(call compile,$(BUILD),lm faults)
	@python3 tests/faults/sweep.py $(BUILD)/bin/lm $(BUILD)/tests/libfaults.so
	@python3 tests/faults/kills.py $(BUILD)/bin/lm 200
	@python3 tests/mutations/mutations.py $(BUILD)/bin/lm 3000 3000
	@python3 tests/mutations/hostile.py $(BUILD)/bin/lm

# For a machine with a GPU but without the packages. The programs run from the top of a copy of the sources.
build-gpu: deps-test  ## pack the programs of gpu-first, -check and -bench for another machine: build-gpu/
	@$(call configure,$(CUDA_BUILD),-DRONDO_CUDA=ON -DRONDO_PORTABLE=ON)
	@$(call compile,$(CUDA_BUILD),$(GPU_PROGRAMS))
	@python3 bench/gpu_programs.py $(CUDA_BUILD) build-gpu $(GPU_PROGRAMS)

gpu-programs:
	@[ -e $(GPU_BUILD)/programs.tar.xz ] || [ -e $(GPU_BUILD)/bin/lm ] || $(MAKE) build-gpu

gpu-first: gpu-programs  ## on a machine with a GPU, the first time: what it can do, whether Rondo works, how fast; nine minutes at most
	@python3 bench/gpu_visit.py --programs $(GPU_BUILD) device=15 probe=45 steps=60 check=250 speed=170

gpu-visit: gpu-programs  ## on a machine with a GPU: a short form of all checks and of the speed, then a training, TRAIN=...; ten minutes
	@python3 bench/gpu_visit.py --programs $(GPU_BUILD) $(if $(TRAIN),-- $(TRAIN))

gpu-check: gpu-programs  ## on a machine with a GPU: compare its results with the CPU's; nine minutes at most
	@GPU_CHECK_BUILD=$(GPU_BUILD) python3 bench/gpu_check.py

gpu-bench: gpu-programs  ## on a machine with a GPU: speed and memory beside PyTorch's; nine minutes at most, resumable
	@GPU_BENCH_BUILD=$(GPU_BUILD) python3 bench/gpu_bench.py

gpu-registers:  ## the registers of each CUDA kernel; fails if one spills. Needs nvcc
	@PATH="$$PATH:/usr/local/cuda/bin" python3 bench/gpu_registers.py nvcc

format:  ## format the sources by clang-format 14
	@[ -n "$(CLANG_FORMAT)" ] || { echo 'format: needs clang-format 14' >&2; exit 1; }
	@$(SOURCES) | xargs -r $(CLANG_FORMAT) -i

docs:  ## the API reference, from the comments of the headers: build/docs/html/index.html. Needs doxygen
	@[ "$(DEPS)" = no ] || .ci/dependencies --docs
	@if ! command -v doxygen >/dev/null; then echo 'docs: skipped, needs doxygen'; \
	 else mkdir -p $(BUILD)/docs && (cat Doxyfile; echo 'OUTPUT_DIRECTORY = $(BUILD)/docs') | doxygen - && \
	  echo 'docs: $(BUILD)/docs/html/index.html'; fi

tables: all  ## update the generated tables of docs/*.md
	@docs/tables.py $(BUILD)/bin/lm

deps:  ## install missing packages (DEPS=no skips this)
	@[ "$(DEPS)" = no ] || .ci/dependencies $(WITH)

deps-test:  # what the tests need, and the optional libraries as well
	@[ "$(DEPS)" = no ] || .ci/dependencies --test

clean:  ## remove all build folders
	rm -rf $(BUILD) $(SANITIZED) $(BUILD)-threads $(BUILD)-tour $(BUILD)-aarch64 $(CUDA_BUILD) $(FUZZ_BUILD) build-gpu

help:  ## list the targets
	@echo 'make [target] [DEPS=no] [BUILD=DIR] [JOBS=N] [CXX=compiler]'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' Makefile
