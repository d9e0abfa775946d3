# RunLoopKit — `make help` lists what there is to do.
#
# The C core needs a C compiler and nothing else; the Swift targets go through `swift build`.

SHELL := /bin/bash
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
VERSION := 0.1.0
SOVERSION := 0
empty :=
space := $(empty) $(empty)
BUILD ?= build
ACT ?=

# One directory of objects per compiler and set of flags, so that `make lib CC=clang` after `make lib CC=gcc` builds anew.
SANITIZE ?=
FLAVOUR := $(subst /,_,$(subst $(space),,$(CC)))$(if $(SANITIZE),-$(SANITIZE))
OUT := $(BUILD)/$(FLAVOUR)

CORE := Sources/CRunLoopCore
SOURCES := $(wildcard $(CORE)/src/*.c)
OBJECTS := $(SOURCES:$(CORE)/src/%.c=$(OUT)/core/%.o)
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wundef -Werror
CFLAGS ?= -O2 -g
# A section for each function: the linker leaves out of the shared library what only the Swift overlay calls.
CORE_CFLAGS := -std=c11 -ffunction-sections -D_GNU_SOURCE -DRUNLOOP_BUILDING_CORE -fPIC -fvisibility=hidden -pthread $(WARNINGS) -I$(CORE)/include

.PHONY: all lib run test test-c test-swift test-examples test-foundation sanitize lint format docs install uninstall clean help
all: lib

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  PREFIX, DESTDIR, LIBDIR for install; CC for lib and test-c; ACT=5 for one act of the tour;"
	@echo "  ROOM=timer and NAME=R80 for one file and one test of test-c."

#-- the library -------------------------------------------------------------------------------------------------------

lib: $(OUT)/librunloop.a $(OUT)/librunloop.so.$(VERSION) ## The C library, static and shared

# Code and constants need no pages of their own; a linker that knows of no other way doesn't know the option.
PACKED := $(shell $(CC) -shared -Wl,-z,noseparate-code -x c /dev/null -o /dev/null 2> /dev/null && echo -Wl,-z,noseparate-code)

# What is seldom called is made small.
$(addprefix $(OUT)/core/,$(addsuffix .o,associated binding common describe dispatch_main lock loop memberships name note port registry source_modes)): SMALL := -Os

$(OUT)/core/%.o: $(CORE)/src/%.c $(wildcard $(CORE)/src/*.h $(CORE)/include/*.h) Makefile
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(CPPFLAGS) $(CORE_CFLAGS) $(CFLAGS) $(SMALL) $(SANITIZE_FLAGS) -c $< -o $@

$(OUT)/librunloop.a: $(OBJECTS)
	@rm -f $@
	@echo "  AR   $@"
	@$(AR) rcs $@ $^

$(OUT)/librunloop.so.$(VERSION): $(OBJECTS)
	@echo "  LINK $@"
	@$(CC) -shared -pthread $(PACKED) $(LDFLAGS) $(SANITIZE_FLAGS) -Wl,--gc-sections -Wl,-soname,librunloop.so.$(SOVERSION) -o $@ $^

install: lib ## Header, libraries and runloop.pc into PREFIX (and DESTDIR)
	install -d $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 $(CORE)/include/runloop.h $(DESTDIR)$(INCLUDEDIR)/runloop.h
	install -m 644 $(OUT)/librunloop.a $(DESTDIR)$(LIBDIR)/librunloop.a
	install -m 755 $(OUT)/librunloop.so.$(VERSION) $(DESTDIR)$(LIBDIR)/librunloop.so.$(VERSION)
	ln -sf librunloop.so.$(VERSION) $(DESTDIR)$(LIBDIR)/librunloop.so.$(SOVERSION)
	ln -sf librunloop.so.$(VERSION) $(DESTDIR)$(LIBDIR)/librunloop.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	    runloop.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/runloop.pc

uninstall: ## What install put there
	rm -f $(DESTDIR)$(INCLUDEDIR)/runloop.h $(DESTDIR)$(LIBDIR)/librunloop.a $(DESTDIR)$(LIBDIR)/librunloop.so \
	    $(DESTDIR)$(LIBDIR)/librunloop.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/librunloop.so.$(VERSION) \
	    $(DESTDIR)$(LIBDIR)/pkgconfig/runloop.pc

#-- CoreFoundation's interface ----------------------------------------------------------------------------------------

CF := Sources/RunLoopCF
CF_OBJECTS := $(patsubst $(CF)/src/%.c,$(OUT)/cf/%.o,$(wildcard $(CF)/src/*.c))
CF_CFLAGS := $(filter-out -DRUNLOOP_BUILDING_CORE,$(CORE_CFLAGS)) -I$(CF)/include
CF_HEADERS := $(DESTDIR)$(INCLUDEDIR)/runloop-cf

.PHONY: install-cf uninstall-cf test-cf
lib: $(OUT)/librunloop-cf.a $(OUT)/librunloop-cf.so.$(VERSION)
install: install-cf
uninstall: uninstall-cf

$(OUT)/cf/%.o: $(CF)/src/%.c $(CF)/src/internal.h $(wildcard $(CF)/include/CoreFoundation/*.h) $(CORE)/include/runloop.h
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(CPPFLAGS) $(CF_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -c $< -o $@

$(OUT)/librunloop-cf.a: $(CF_OBJECTS)
	@rm -f $@
	@echo "  AR   $@"
	@$(AR) rcs $@ $^

$(OUT)/librunloop-cf.so.$(VERSION): $(CF_OBJECTS) $(OUT)/librunloop.so.$(VERSION)
	@echo "  LINK $@"
	@$(CC) -shared -pthread $(PACKED) $(LDFLAGS) $(SANITIZE_FLAGS) -Wl,-soname,librunloop-cf.so.$(SOVERSION) -o $@ $^

test-cf: ## Programs written for CFRunLoop, on ours and on the real one
	@Tests/cf-programs

install-cf: lib
	install -d $(CF_HEADERS)/CoreFoundation $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 $(CF)/include/CoreFoundation/*.h $(CF_HEADERS)/CoreFoundation
	install -m 644 $(OUT)/librunloop-cf.a $(DESTDIR)$(LIBDIR)/librunloop-cf.a
	install -m 755 $(OUT)/librunloop-cf.so.$(VERSION) $(DESTDIR)$(LIBDIR)/librunloop-cf.so.$(VERSION)
	ln -sf librunloop-cf.so.$(VERSION) $(DESTDIR)$(LIBDIR)/librunloop-cf.so.$(SOVERSION)
	ln -sf librunloop-cf.so.$(VERSION) $(DESTDIR)$(LIBDIR)/librunloop-cf.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	    runloop-cf.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/runloop-cf.pc

uninstall-cf:
	rm -rf $(CF_HEADERS)
	rm -f $(DESTDIR)$(LIBDIR)/librunloop-cf.* $(DESTDIR)$(LIBDIR)/pkgconfig/runloop-cf.pc

#-- the tour ----------------------------------------------------------------------------------------------------------

run: ## The guided tour: ten acts on real input (ACT=5: only that one)
	swift build -c debug --product tour
	@$$(swift build -c debug --show-bin-path)/tour $(ACT)

#-- example servers ---------------------------------------------------------------------------------------------------

.PHONY: servers
SERVER := Examples/Servers

servers: $(OUT)/server ## An echo server and an HTTP server in C: Examples/Servers

$(OUT)/server: $(wildcard $(SERVER)/*.c $(SERVER)/*.h) $(OUT)/librunloop.a
	@echo "  CC   $@"
	@$(CC) -std=c11 -pthread $(WARNINGS) -I$(CORE)/include $(CFLAGS) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ \
	    $(wildcard $(SERVER)/*.c) $(OUT)/librunloop.a

#-- tests -------------------------------------------------------------------------------------------------------------

test: test-c test-servers test-growth test-swift test-examples test-foundation ## The proof: rules, C, servers, growth, Swift, examples, Foundation
	@Tests/count $(BUILD)/test-c.log $(BUILD)/test-servers.log $(BUILD)/test-growth.log $(BUILD)/test-swift.log $(BUILD)/test-examples.log \
	    $(BUILD)/test-foundation.log

test-c: ## The C tests, a process for each, and the table of rules
	@mkdir -p $(BUILD)
	@set -o pipefail; Tests/c-tests 2>&1 | tee $(BUILD)/test-c.log
	@scripts/check-rules

.PHONY: test-servers
test-servers: ## The example servers, with real clients
	@mkdir -p $(BUILD)
	@set -o pipefail; Tests/servers 2>&1 | tee $(BUILD)/test-servers.log

.PHONY: test-growth
test-growth: ## Does each operation grow with the number of items as promised? (needs valgrind)
	@mkdir -p $(BUILD)
	@set -o pipefail; Tests/growth 2>&1 | tee $(BUILD)/test-growth.log

test-swift: ## The Swift tests
	@mkdir -p $(BUILD)
	@set -o pipefail; swift test --parallel --disable-xctest 2>&1 | tee $(BUILD)/test-swift.log
	@set -o pipefail; swift test --disable-swift-testing 2>&1 | tee -a $(BUILD)/test-swift.log

test-examples: ## The example programs, driven as their users would
	@mkdir -p $(BUILD)
	@set -o pipefail; Tests/examples 2>&1 | tee $(BUILD)/test-examples.log

test-foundation: ## Programs written for Foundation, on ours and on the real one, and one of them linked statically
	@mkdir -p $(BUILD)
	@set -o pipefail; Tests/foundation-programs 2>&1 | tee $(BUILD)/test-foundation.log
	@set -o pipefail; STATIC=1 Tests/foundation-programs timer_once 2>&1 | tee -a $(BUILD)/test-foundation.log

sanitize: ## The C tests under address, undefined-behaviour and thread sanitizers; the Swift tests under address and thread
	Tests/sanitize

#-- the differential suite --------------------------------------------------------------------------------------------

.PHONY: conformance
conformance: ## The same programs on CoreFoundation and on ours, compared (SEEDS=5000, SANITIZE=address|thread)
	@Tests/conformance

#-- benchmarks --------------------------------------------------------------------------------------------------------

.PHONY: bench bench-deps bench-smoke size
W ?=
PEERS ?=
REPS ?= 3
COUNTS ?= 1

bench: ## Our figures beside every peer's (W=w4 PEERS=raw,ev REPS=7), tables and pictures in bench-results
	@Benchmarks/bench --workloads "$(W)" --peers "$(PEERS)" --reps $(REPS) $(if $(filter 0,$(COUNTS)),--no-counts)

.PHONY: growth bench-pictures
bench-pictures: ## The results of make bench and make growth as pictures in docs/bench, and Benchmarks/GOALS.md
	@Benchmarks/bench --pictures

growth: ## How the cost of each operation grows from 1 to 1,000,000 items: instructions and time
	@Benchmarks/bench --workloads growth

bench-smoke: ## Each benchmark, briefly: that they all still run
	@Benchmarks/bench --smoke

size: ## Size and start of one small program: C, Swift with RunLoopKit, Swift with Foundation
	@Benchmarks/size/measure

bench-deps: ## Installs the development packages of the peers (apt-get)
	apt-get install -y libuv1-dev libev-dev libevent-dev libglib2.0-dev libsystemd-dev pkg-config strace valgrind wrk

#-- house -------------------------------------------------------------------------------------------------------------

C_FILES := $(shell git ls-files '*.c' '*.h' 2>/dev/null)

lint: ## Formats, headers, warnings as errors, what the library exports
	scripts/lint

format: ## Formats all C and Swift files in place
	clang-format -i $(C_FILES)
	swift-format format --in-place --recursive Package.swift Sources Tests Examples

docs: ## The documentation of every product in build/docs; each public symbol has a comment, each piece of code compiles
	@scripts/docs
	@scripts/check-examples

clean: ## Removes what was built
	rm -rf $(BUILD) .build
