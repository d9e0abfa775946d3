# RunLoopKit — `make help` lists the targets to begin with, `make help-all` all of them.
#
# The C core needs only a C compiler; the Swift targets use `swift build`.

SHELL := /bin/bash
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
BINDIR ?= $(PREFIX)/bin
# What lib and install are about. All of them need core.
LIBRARIES ?= core cf linux foreign diagnostics
# Where there is no other compiler, that of the Swift toolchain.
ifeq ($(origin CC),default)
CC := $(if $(shell command -v cc),cc,clang)
endif
VERSION := 0.1.0
# Before 1.0 a minor version may break programs, so it is part of the name that they ask the loader for.
SOVERSION := $(basename $(VERSION))
comma := ,
empty :=
space := $(empty) $(empty)
BUILD ?= build
ACT ?=
# Of each `swift build`, as other flags build everything again.
SWIFT_FLAGS ?=

# One directory of objects per compiler and sanitizer; changed flags rebuild it, see flags below.
SANITIZE ?=
FLAVOUR := $(subst /,_,$(subst $(space),,$(CC)))$(if $(SANITIZE),-$(SANITIZE))
OUT := $(BUILD)/$(FLAVOUR)
SANITIZE_FLAGS_address := -fsanitize=address,undefined -fno-sanitize-recover=undefined
SANITIZE_FLAGS_thread := -fsanitize=thread
ifneq ($(filter-out address thread,$(SANITIZE)),)
$(error SANITIZE is address, thread or empty, not '$(SANITIZE)')
endif
SANITIZE_FLAGS := $(SANITIZE_FLAGS_$(SANITIZE))

CORE := Sources/CRunLoopCore
SOURCES := $(shell Tools/scripts/library-files sources core)
# The headers for C++ that need librunloop-linux; the others need the core alone.
CPP_linux := $(addprefix Interop/Bindings/cpp/runloop_,async.hpp async_streams.hpp command.hpp descriptor.hpp linux.hpp process.hpp streams.hpp)
HEADERS := $(shell Tools/scripts/library-files headers core) $(filter-out $(CPP_linux),$(wildcard Interop/Bindings/cpp/*.hpp))
OBJECTS := $(SOURCES:$(CORE)/src/%.c=$(OUT)/core/%.o)
# A compiler of tomorrow has warnings that ours has not. WERROR=1, as the gates have it: a warning is an error, here and in all tests.
WERROR ?=
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wundef $(if $(WERROR),-Werror)
CFLAGS ?= -O2 -g
# What hardens the libraries, as far as the compiler has it; the user's flags come later, and win. Asked for once, and only if something is
# built. HARDENING=0: nothing of it. A sanitizer checks on its own.
HARDENING ?= 1
ifeq ($(HARDENING)$(SANITIZE),1)
HARDENING_CFLAGS = $(eval HARDENING_CFLAGS := $(shell Tools/scripts/hardening compile $(CC) $(CPPFLAGS) $(CFLAGS)))$(HARDENING_CFLAGS)
HARDENING_LDFLAGS = $(eval HARDENING_LDFLAGS := $(shell Tools/scripts/hardening link $(CC) $(LDFLAGS)))$(HARDENING_LDFLAGS)
endif
# A section for each function, so that the linker omits functions that only the Swift overlay calls from the shared library.
LIBRARY_CFLAGS = $(HARDENING_CFLAGS) -std=c11 -ffunction-sections -D_GNU_SOURCE -fPIC -fvisibility=hidden -pthread $(WARNINGS) -I$(CORE)/include
# USDT=1: probes for bpftrace and perf at the points of a tracer (needs systemtap-sdt-dev).
USDT ?=
CORE_CFLAGS = $(LIBRARY_CFLAGS) -DRUNLOOP_BUILDING_CORE -I$(CORE)/src $(if $(USDT),-DRUNLOOP_USDT)

all: lib

# Each target with a word on it is a command.
hash := \#
COMMANDS := $(shell sed -n 's/^\([a-z-]*\):.*$(hash)$(hash) .*/\1/p' $(firstword $(MAKEFILE_LIST)))
.PHONY: all always $(COMMANDS)

help: ## What one begins with
	@$(MAKE) -s help-all | grep -E '^  make (lib|run|check|test|install) '
	@echo "make help-all lists the others."

help-all: ## All targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "  PREFIX, DESTDIR, LIBDIR for install; CC for lib and test-c; ACT=5 for one act of the tour;"
	@echo "  FILE=timer and NAME=R80 for one file and one test of test-c."

# What a command prints is shown, and kept in build/TARGET.log.
logged = @mkdir -p $(BUILD) && set -o pipefail && { $(1); } 2>&1 | tee $(BUILD)/$@.log

#-- the library -------------------------------------------------------------------------------------------------------

lib: $(LIBRARIES:%=lib-%) ## The C libraries, static and shared
lib-core: $(OUT)/librunloop.a $(OUT)/librunloop.so.$(VERSION)

# The flags and sources of the last build. Written when they change; everything depends on it.
FLAGS = $(CC) $(CPPFLAGS) $(CORE_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) $(HARDENING_LDFLAGS) $(LDFLAGS) $(OBJECTS) $(cf_OBJECTS) $(linux_OBJECTS) $(foreign_OBJECTS) $(diagnostics_OBJECTS)
$(OUT)/flags: always
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS))' > $@

# A thread that has a loop runs the library's code when it ends, so the library stays loaded after dlclose.
SHARED = $(CC) -shared -pthread $(HARDENING_LDFLAGS) $(LDFLAGS) $(SANITIZE_FLAGS) -Wl,-z,nodelete -Wl,--version-script=Packaging/runloop.map
# Where libraries on top of librunloop look for it: in their own folder, whichever that is. Empty if that is one the loader knows.
RUNPATH ?= $$ORIGIN
WITH_RUNPATH = $(if $(RUNPATH),-Wl$(comma)-rpath$(comma)'$(RUNPATH)')

$(OUT)/core/%.o: $(CORE)/src/%.c $(OUT)/flags Makefile
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(CPPFLAGS) $(CORE_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP -c $< -o $@

$(OUT)/librunloop.a: $(OBJECTS)
$(OUT)/%.a:
	@rm -f $@
	@echo "  AR   $@"
	@$(AR) rcs $@ $^

$(OUT)/librunloop.so.$(VERSION): $(OBJECTS) Packaging/runloop.map
	@echo "  LINK $@"
	@$(SHARED) -Wl,--gc-sections -Wl,-soname,librunloop.so.$(SOVERSION) -o $@ $(OBJECTS)
	@ln -sf $(@F) $(@D)/librunloop.so.$(SOVERSION)

# Names of folders may contain spaces.
TO_INCLUDE = "$(DESTDIR)$(INCLUDEDIR)"
TO_LIB = "$(DESTDIR)$(LIBDIR)"
TO_MAN = "$(DESTDIR)$(MANDIR)"
TO_BIN = "$(DESTDIR)$(BINDIR)"
TO_CMAKE = $(TO_LIB)/cmake/RunLoop
FILL_IN = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
    -e 's|@SOVERSION@|$(SOVERSION)|' -e "s|@INCLUDEDIR_FROM_LIBDIR@|$$(realpath -m --relative-to='$(LIBDIR)' '$(INCLUDEDIR)')|"

# $(call install_library,NAME,HEADERS,FOLDER OF HEADERS)
define install_library
	install -d $(TO_INCLUDE)$(3) $(TO_LIB)/pkgconfig
	install -m 644 $(2) $(TO_INCLUDE)$(3)
	install -m 644 $(OUT)/lib$(1).a $(TO_LIB)/lib$(1).a
	install -m 755 $(OUT)/lib$(1).so.$(VERSION) $(TO_LIB)/lib$(1).so.$(VERSION)
	ln -sf lib$(1).so.$(VERSION) $(TO_LIB)/lib$(1).so.$(SOVERSION)
	ln -sf lib$(1).so.$(VERSION) $(TO_LIB)/lib$(1).so
	$(FILL_IN) -e 's|@NAME@|$(1)|' -e "s|@DESCRIPTION@|$(DESCRIPTION_$(1))|" -e 's|@FOLDER@|$(patsubst %/,%,$(dir $(3)))|' \
	    -e 's|@REQUIRES@|$(if $(filter runloop-%,$(1)),$(strip runloop $(PACKAGE_$(1:runloop-%=%))))|' \
	    Packaging/runloop.pc.in > $(TO_LIB)/pkgconfig/$(1).pc
endef

# What pkg-config says of each library.
DESCRIPTION_runloop := The run loop for Linux: modes, sources, timers, observers
DESCRIPTION_runloop-cf := CoreFoundation's run loop interface on runloop
DESCRIPTION_runloop-diagnostics := Statistics, reports, traces and watchdogs of run loops
DESCRIPTION_runloop-foreign := Other event libraries as guests of a run loop
DESCRIPTION_runloop-glib := The run loop under GLib's main loop
DESCRIPTION_runloop-linux := Signals, child processes and other things of Linux as sources of a run loop
DESCRIPTION_runloop-uv := The run loop under libuv's loop

install: $(LIBRARIES:%=install-%) ## Libraries, headers, man pages, files for pkg-config and CMake into PREFIX (and DESTDIR); LIBRARIES="core linux"
install-core: install-man-core ## Only the core
	$(call install_library,runloop,$(HEADERS))
	install -d $(TO_CMAKE)
	$(FILL_IN) Packaging/RunLoopConfig.cmake.in > $(TO_CMAKE)/RunLoopConfig.cmake
	$(FILL_IN) Packaging/RunLoopConfigVersion.cmake.in > $(TO_CMAKE)/RunLoopConfigVersion.cmake
install-core: lib-core

uninstall: uninstall-man ## Removes what install has installed
	rm -f $(addprefix $(TO_INCLUDE)/,$(notdir $(HEADERS))) $(TO_LIB)/librunloop.* $(TO_LIB)/pkgconfig/runloop.pc
	rm -rf $(TO_CMAKE)

preload: ## The main actor, or all tasks, on the main loop of programs that are built already: prints the libraries for LD_PRELOAD
	@mkdir -p $(BUILD)
	@swift build -c release --package-path Packaging/Preload --scratch-path .build/preload > $(BUILD)/preload.log 2>&1 || \
	    { cat $(BUILD)/preload.log; exit 1; }
	@ls $(CURDIR)/.build/preload/release/librunloop-*.so

#-- releases ----------------------------------------------------------------------------------------------------------

check-install: ## Installs into a temporary folder, and builds and runs programs there; needs no git
	@COMPILERS="$(CC)" Tests/bin/packages install

dist: ## The sources of the last commit as a tarball, in build: the same bytes each time
	@Tools/scripts/dist $(BUILD)

release: ## Checks and prepares a release, and prints what is left to do: RELEASE=0.2.0
	@Tools/scripts/release $(RELEASE)

#-- man pages ---------------------------------------------------------------------------------------------------------

# Written from the comments of the headers: a page for each function, each type and each header, and one in section 7 for each library.
WITH_MAN := core linux foreign diagnostics glib uv
man: $(WITH_MAN:%=$(BUILD)/man/%) ## The man pages in build/man

$(WITH_MAN:%=$(BUILD)/man/%): $(BUILD)/man/%: Tools/scripts/man-pages Tools/scripts/man-pages.awk Makefile README.md \
    $(wildcard Sources/CRunLoop*/include/*.h Interop/Guests/CRunLoop*/include/*.h Interop/Hosts/runloop-*.h Interop/Tests/Hosts/installed_*.c Sources/*/*.docc/*.md Sources/*/*.docc/*/*.md)
	@Tools/scripts/man-pages $* $@

install-man-%: $(BUILD)/man/%
	install -d $(TO_MAN)/man3 $(TO_MAN)/man7
	cp -P $</man3/* $(TO_MAN)/man3
	cp -P $</man7/* $(TO_MAN)/man7

uninstall-man: man
	@cd $(BUILD)/man && find . -name 'runloop*.[37]' | sed 's|^\./[a-z]*/||' | (cd $(TO_MAN) 2> /dev/null && xargs rm -f || true)

#-- the libraries on top of it ------------------------------------------------------------------------------------------

# $(call library,NAME,FOLDER): librunloop-NAME, static and shared, of the C files in FOLDER/src. It finds librunloop in its own folder,
# whichever that is.
define library
$(1)_HEADERS := $(shell Tools/scripts/library-files headers $(1)) $(CPP_$(1))
$(1)_OBJECTS := $(patsubst $(2)/src/%.c,$(OUT)/$(1)/%.o,$(shell Tools/scripts/library-files sources $(1)))
lib-$(1): $(OUT)/librunloop-$(1).a $(OUT)/librunloop-$(1).so.$(VERSION)
uninstall: uninstall-$(1)

$(OUT)/$(1)/%.o: $(2)/src/%.c $(OUT)/flags Makefile
	@mkdir -p $$(@D)
	@echo "  CC   $$<"
	@$$(CC) $$(CPPFLAGS) $$(LIBRARY_CFLAGS) -I$(2)/include -I$(2)/src $$(CFLAGS) $$(SANITIZE_FLAGS) -MMD -MP -c $$< -o $$@

$(OUT)/librunloop-$(1).a: $$($(1)_OBJECTS)

$(OUT)/librunloop-$(1).so.$(VERSION): $$($(1)_OBJECTS) $(OUT)/librunloop.so.$(VERSION)
	@echo "  LINK $$@"
	@$$(SHARED) -Wl,-soname,librunloop-$(1).so.$(SOVERSION) $$(WITH_RUNPATH) -o $$@ $$^
	@ln -sf $$(@F) $$(@D)/librunloop-$(1).so.$(SOVERSION)

install-$(1): lib-$(1) install-core $(if $(filter $(1),$(WITH_MAN)),install-man-$(1))
	$$(call install_library,runloop-$(1),$$($(1)_HEADERS),$$(FOLDER_$(1)))

uninstall-$(1):
	rm -f $$(TO_LIB)/librunloop-$(1).* $$(TO_LIB)/pkgconfig/runloop-$(1).pc $$(addprefix $$(TO_INCLUDE)$$(FOLDER_$(1))/,$$(notdir $$($(1)_HEADERS)))
endef

# Headers with the names of CoreFoundation's stand apart.
FOLDER_cf := /runloop-cf/CoreFoundation

CF := Compat/CoreFoundation/RunLoopCF
LINUX := Sources/CRunLoopLinux
FOREIGN := Interop/Guests/CRunLoopForeign
DIAGNOSTICS := Sources/CRunLoopDiagnostics
$(eval $(call library,cf,$(CF)))
$(eval $(call library,linux,$(LINUX)))
$(eval $(call library,foreign,$(FOREIGN)))
$(eval $(call library,diagnostics,$(DIAGNOSTICS)))

-include $(OBJECTS:.o=.d) $(cf_OBJECTS:.o=.d) $(linux_OBJECTS:.o=.d) $(foreign_OBJECTS:.o=.d) $(diagnostics_OBJECTS:.o=.d)

test-cf: ## Programs written for CFRunLoop, on this library and on CoreFoundation
	@Tests/bin/cf-programs

test-cf-clients: ## Twisted's and rubicon-objc's loops for CoreFoundation, on this library; downloads both
	@Tests/bin/cf-clients

#-- runloop-top ---------------------------------------------------------------------------------------------------------

# Comes with librunloop-diagnostics, with which it shares where processes are published.
TOP := Tools/runloop-top
TOP_SOURCES := $(wildcard $(TOP)/*.c) $(DIAGNOSTICS)/src/published_path.c

lib-diagnostics: $(OUT)/runloop-top
$(OUT)/runloop-top: $(TOP_SOURCES) $(wildcard $(TOP)/*.h) $(DIAGNOSTICS)/src/published_path.h $(OUT)/flags Makefile
	@echo "  CC   $@"
	@$(CC) $(CPPFLAGS) $(HARDENING_CFLAGS) -std=c11 -D_GNU_SOURCE $(WARNINGS) -I$(DIAGNOSTICS)/src -I$(CORE)/include $(CFLAGS) $(SANITIZE_FLAGS) $(HARDENING_LDFLAGS) $(LDFLAGS) -o $@ $(TOP_SOURCES)

install-diagnostics: install-top
install-top: lib-diagnostics
	install -d $(TO_BIN) $(TO_MAN)/man1
	install -m 755 $(OUT)/runloop-top $(TO_BIN)/runloop-top
	install -m 644 $(TOP)/runloop-top.1 $(TO_MAN)/man1/runloop-top.1

uninstall: uninstall-top
uninstall-top:
	rm -f $(TO_BIN)/runloop-top $(TO_MAN)/man1/runloop-top.1

#-- adapters to other loops -------------------------------------------------------------------------------------------

# The files of Interop/Hosts as libraries. Only these targets need GLib and libuv.
PACKAGE_glib := glib-2.0
PACKAGE_uv := libuv
HOST_OBJECTS := $(OUT)/hosts/glib.o $(OUT)/hosts/uv.o

uninstall: uninstall-glib uninstall-uv
install-glib: ## What install does, and librunloop-glib, the loop under GLib's
install-uv: ## What install does, and librunloop-uv, the loop under libuv's

$(HOST_OBJECTS): $(OUT)/hosts/%.o: Interop/Hosts/runloop-%.c $(OUT)/flags Makefile
	@mkdir -p $(@D)
	@pkg-config --print-errors --exists $(PACKAGE_$*)
	@echo "  CC   $<"
	@$(CC) $(CPPFLAGS) $(LIBRARY_CFLAGS) -fvisibility=default $(CFLAGS) $(SANITIZE_FLAGS) \
	    $$(pkg-config --cflags $(PACKAGE_$*) | sed 's/-I/-isystem /g') -MMD -MP -c $< -o $@

-include $(HOST_OBJECTS:.o=.d)

$(OUT)/librunloop-glib.a: $(OUT)/hosts/glib.o
$(OUT)/librunloop-uv.a: $(OUT)/hosts/uv.o
$(OUT)/librunloop-%.so.$(VERSION): $(OUT)/hosts/%.o $(OUT)/librunloop.so.$(VERSION)
	@echo "  LINK $@"
	@$(SHARED) -Wl,-soname,librunloop-$*.so.$(SOVERSION) $(WITH_RUNPATH) -o $@ $^ $$(pkg-config --libs $(PACKAGE_$*))
	@ln -sf $(@F) $(@D)/librunloop-$*.so.$(SOVERSION)

install-glib install-uv: install-%: install install-man-% $(OUT)/librunloop-%.a $(OUT)/librunloop-%.so.$(VERSION)
	$(call install_library,runloop-$*,Interop/Hosts/runloop-$*.h)

uninstall-glib uninstall-uv: uninstall-%:
	rm -f $(TO_INCLUDE)/runloop-$*.h $(TO_LIB)/librunloop-$*.* $(TO_LIB)/pkgconfig/runloop-$*.pc

#-- the tour ----------------------------------------------------------------------------------------------------------

test-probes: ## The core with its probes (make USDT=1), followed by the scripts for bpftrace
	@Tests/bin/probes

trace-demo: ## A page with the timeline of the tour, build/trace-demo.html, which needs nothing but a browser
	@swift build $(SWIFT_FLAGS) -c debug --product tour
	@mkdir -p build
	@$$(swift build -c debug --show-bin-path)/tour --trace build/tour-trace.json > build/tour-trace.log || { cat build/tour-trace.log; exit 1; }
	@Tools/scripts/trace-page build/tour-trace.json "The main loop in the tour" > build/trace-demo.html
	@echo "Open build/trace-demo.html in a browser; build/tour-trace.json is for ui.perfetto.dev."

run: ## The guided tour: twelve acts on real input (ACT=5: only that act)
	swift build $(SWIFT_FLAGS) -c debug --product tour
	@$$(swift build -c debug --show-bin-path)/tour $(ACT)

#-- example servers ---------------------------------------------------------------------------------------------------

SERVER := Examples/Servers

servers: $(OUT)/server ## An echo server and an HTTP server in C: Examples/Servers

$(OUT)/server: $(wildcard $(SERVER)/*.c $(SERVER)/*.h) $(OUT)/librunloop-linux.a $(OUT)/librunloop.a
	@echo "  CC   $@"
	@$(CC) -std=c11 -pthread $(WARNINGS) -I$(CORE)/include -I$(LINUX)/include $(CFLAGS) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ \
	    $(wildcard $(SERVER)/*.c) $(OUT)/librunloop-linux.a $(OUT)/librunloop.a

#-- tests -------------------------------------------------------------------------------------------------------------

check: ## A quick check, a minute: formats, layers, exports, the C tests, the rules
	@Tools/scripts/lint --quick
	@$(MAKE) --no-print-directory test-c

test-top: ## runloop-top in a pseudo-terminal, on a program that publishes its loop
	$(call logged,Tests/bin/part runloop-top python3 -- Tests/Tools/runloop_top.py)

illnesses: ## What the tools say of programs with the illnesses of the article Troubleshooting, a table; RECORD=1 writes docs/ILLNESSES.md
	@Tests/Tools/illnesses.py $(if $(RECORD),--record)

TEST_LOGS := $(addprefix $(BUILD)/test-,$(addsuffix .log,c top servers growth swift examples foundation))

# The halves share no folder. Each leaves processors idle, so they run beside each other; what the half in C prints comes last.
test: ## All tests: rules, C, runloop-top, servers, growth, Swift, examples, Foundation
	@mkdir -p $(BUILD) && rm -f $(TEST_LOGS)
	@Tests/bin/part python3 valgrind
	@set -m; $(MAKE) --no-print-directory test-in-c > $(BUILD)/test-in-c.log 2>&1 & half=$$!; set +m; \
	    trap 'kill -- -$$half' INT TERM; echo "The tests in C run beside those in Swift, and are shown after them."; \
	    status=0; $(MAKE) --no-print-directory test-in-swift || status=$$?; \
	    wait $$half || status=$$?; cat $(BUILD)/test-in-c.log; \
	    [ $$status -eq 0 ] || Tests/bin/failures $(TEST_LOGS); exit $$status
	@grep -aihE '^left out' $(TEST_LOGS) || true
	@Tests/bin/count $(TEST_LOGS)

test-in-c: test-c test-top test-servers test-growth
test-in-swift: test-swift test-examples test-foundation

test-c: ## The C tests, a process for each, and a test for every rule
	$(call logged,Tests/bin/c-tests)
	@Tests/bin/fuzz replay
	@Tools/scripts/check-rules

test-stranger: ## What one types first in a clone: a build without a warning, a test, a benchmark, a package that depends on this one
	@Tests/bin/stranger

test-dependants: ## Other packages depend on this one, by version and by path, under both build systems of SwiftPM
	@Tests/bin/dependants

test-first-steps: ## The first steps of the README, as it says, in an empty folder
	@Tests/bin/first-steps

nightly: ## Everything that the gate has no time for, part by part (PARTS="hosts docs"); RECORD=1 writes docs/records/NIGHTLY.md
	@Tests/bin/nightly $(PARTS)

test-watch-campaign: ## 100,000 random changes of files: what was reported is what is on the disk
	@RUNLOOP_TEST_TIMEOUT=1800 RUNLOOP_TEST_CHANGES=$${CHANGES:-100000} FILE=files_random Tests/bin/c-tests

several-loops: ## One object in the loops of several threads, all kinds, under the thread sanitizer, for SECONDS=5 each
	@RUNLOOP_STRESS_SECONDS=$(or $(SECONDS),5) RUNLOOP_TEST_TIMEOUT=600 SANITIZE=thread FILE="several_loops several_loops_streams several_loops_ends" Tests/bin/c-tests

hostile: ## Peers that drip, reset, flood, never read, bomb with descriptors, swap links: what they cost is bounded (NAMES="reset links")
	@Tests/bin/hostile $(NAMES)

faults: ## Each allocation and each system call of scenarios for every capability fails once (NAMES="channel watched", LANGUAGES="c swift")
	@LANGUAGES="$(LANGUAGES)" Tests/bin/faults $(NAMES)

test-denied: ## Each system call is refused at each place, and what a process may lack is lacking (MOST=1: in a minute); RECORD=1 writes docs/records/DENIED.md
	@Tests/bin/denied

trust: ## A table of what the tests that look for losses have counted: three quarters of an hour (NAMES=rules for a part); RECORD=1 writes docs/records/TRUST.md
	@Tests/bin/trust $(NAMES)

coverage: ## Which lines of the C libraries their tests run, a table (FILE=timer.c: those of such a file that they don't); RECORD=1 writes docs/records/TRUST.md
	@Tests/bin/coverage

soak: ## Every capability of the C libraries at once, all counts compared: HOURS=2, or SECONDS=90 (SEED=7, SANITIZE=address|thread)
	@HOURS="$(HOURS)" SOAK_SECONDS="$(SECONDS)" Tests/bin/soak

fuzz: ## New inputs for the targets of Tests/Proof/Fuzz, for SECONDS=60 each (NAMES="lines text", FAST=1)
	@FAST="$(FAST)" SECONDS_EACH=$(or $(SECONDS),60) Tests/bin/fuzz run $(NAMES)

sandboxed: ## The C tests in the filters of systemd's services and of Docker, under Landlock, without /proc (FILE="timer channels")
	@Tests/bin/sandboxed

test-late: ## The C and Swift tests with calls that come late: what fails depends on a time being short (NAMES="lock TimerTests")
	@SWIFT_FLAGS="$(SWIFT_FLAGS)" Tests/bin/late-tests $(NAMES)

test-error-shapes: ## The catches that clients write compile, on which compilers have crashed (NAMES="as-where async-loop")
	@SWIFT_FLAGS="$(SWIFT_FLAGS)" Tests/bin/error-shapes $(NAMES)

test-planted-bugs: ## How often the real world shows the bugs that a simulation finds: RUNS=1000
	@swift build $(SWIFT_FLAGS) --build-tests -q
	@RUNLOOP_TEST_REAL_RUNS=$${RUNS:-1000} swift test $(SWIFT_FLAGS) --skip-build --disable-xctest --filter SimulationTests | grep -E "real runs|✘|Test run"

catalogue: ## Mistakes that public Swift packages once had: under which seed a simulation finds each, and whether it names the line
	@SWIFT_FLAGS="$(SWIFT_FLAGS)" Tests/bin/catalogue

test-ports: ## The C tests for 32 bits, for musl, and for aarch64 and s390x in an emulator; the C of the package, for Android as well
	$(call logged,Tests/bin/ports)

test-platforms: ## The package as it is built elsewhere than on Linux, and by a client with an older Swift
	$(call logged,Tests/bin/other-platforms && Tests/bin/older-toolchains)

test-tomorrow: ## The C half and Python's binding on Debian sid, the README's commands on trixie: half an hour (SUITE=sid)
	$(call logged,Tests/bin/tomorrow $(SUITE))

test-hosts: ## Hosted runs under GLib, libuv, Qt, SDL, asyncio and Node.js, GLib in Swift, windows in GTK, Qt and SDL
	$(call logged,Tests/bin/hosts && Tests/bin/glib-package && Tests/bin/gtk-window && Compat/Foundation/Tests/Toolkits/check)

host-deps: ## Installs the development packages of the hosts (apt-get)
	apt-get update -qq && apt-get install -y libglib2.0-dev libuv1-dev libsdl2-dev qt6-base-dev libpython3-dev nodejs pkg-config \
	    libgtk-4-dev xvfb xdotool imagemagick

test-guests: ## Other libraries in our loop: GLib, Wayland with weston, sd-bus, libcurl, c-ares (FILE=wayland NAME=task)
	$(call logged,Tests/bin/guests)

guest-deps: ## Installs the development packages of the guests (apt-get)
	apt-get update -qq && apt-get install -y libglib2.0-dev libwayland-dev weston libsystemd-dev libcurl4-openssl-dev libc-ares-dev pkg-config

test-bindings: ## The bindings to other languages (FOLDERS="cpp rust")
	$(call logged,Tests/bin/bindings $(FOLDERS))

test-glib-suite: ## GLib's own tests (Debian's libglib2.0-tests), with its contexts waiting in our loop
	$(call logged,Tests/bin/glib-suite)

# Their versions are pinned where each is run; docs/records/SUITES.md has the results.
test-suites: test-python-asyncio test-python-suites test-cf-clients test-glib-suite ## Other projects' tests on our loop, half an hour

test-python-asyncio: ## All of CPython's own tests of asyncio, on the event loop of Interop/Bindings/python (PYTHON=python3.14): two minutes
	@mkdir -p $(BUILD)/bindings/python
	@INCLUDE=$(CORE)/include OUT=$(abspath $(BUILD))/bindings/python Interop/Tests/Bindings/python/run asyncio

test-python-suites: ## Other projects' tests on asyncio's event loop and on that of Interop/Bindings/python (FOLDERS="uvloop anyio"): twenty minutes
	@mkdir -p $(BUILD)/bindings/python
	@INCLUDE=$(CORE)/include OUT=$(abspath $(BUILD))/bindings/python Interop/Tests/Bindings/python/run suites $(FOLDERS)

stress-bindings: ## Stresses the bindings for SECONDS=600, each under its language's checks (FOLDERS="cpp rust")
	@STRESS=$(or $(SECONDS),600) Tests/bin/bindings $(FOLDERS)

test-servers: ## The example servers, with real clients
	$(call logged,Tests/bin/part servers python3 -- Tests/Examples/servers.py)

test-growth: ## Checks how the cost of each operation grows with the number of items (needs valgrind)
	$(call logged,Tests/bin/part growth python3 valgrind -- Tests/bin/growth)

test-swift: ## The Swift tests
	$(call logged,swift test $(SWIFT_FLAGS) --parallel --disable-xctest && swift test $(SWIFT_FLAGS) --disable-swift-testing)

test-preload: ## The libraries of make preload, before programs that were built without them
	$(call logged,Tests/bin/preload)

test-packages: ## Programs built with each kind of package: pkg-config, CMake, Meson, Debian, the tarball; man pages; a release is prepared
	$(call logged,Tests/bin/packages)

test-examples: ## The example programs, used as their users would
	$(call logged,Tests/bin/part examples python3 -- Tests/bin/examples)

test-foundation: ## Programs written for Foundation, on this library and on Foundation, and one of them linked statically
	$(call logged,Tests/bin/foundation-programs && STATIC=1 Tests/bin/foundation-programs timer_once)

sanitize: ## The C tests under sanitizers and with random delays in the core, the Swift tests under sanitizers
	Tests/bin/sanitize

explore: ## Tries the core under every order of events that a few deviations lead to: Tests/Proof/Explorer
	@Tests/bin/explore

mutants: ## Breaks the core in each place of Tests/Proof/Explorer/mutants.txt, which the explorer must notice; takes half an hour
	@Tests/bin/mutants

mutants-beyond: ## Breaks the other C libraries in each place of Tests/Proof/Mutants, which their C tests must notice; takes half an hour
	@Tests/bin/mutants --beyond

mutants-swift: ## Breaks the Swift libraries in each place of Tests/Proof/Mutants/swift, which the tests that it names must notice
	@Tests/bin/mutants-swift

#-- the differential suite --------------------------------------------------------------------------------------------

conformance: ## Compares the same programs on CoreFoundation and on this library (SEEDS=5000, SANITIZE=address|thread)
	@Tests/bin/conformance

#-- benchmarks --------------------------------------------------------------------------------------------------------

W ?=
PEERS ?=
REPS ?= 3
COUNTS ?= 1

bench: ## Compares this library with every peer (W=w4 PEERS=raw,ev REPS=7); tables and pictures in bench-results
	@Benchmarks/bench --workloads "$(W)" --peers "$(PEERS)" --reps $(REPS) $(if $(filter 0,$(COUNTS)),--no-counts)

bench-pictures: ## The results of make bench and make growth as pictures in docs/bench, and Benchmarks/GOALS.md
	@Benchmarks/bench --pictures

growth: ## How the cost of each operation grows from 1 to 1,000,000 items: instructions and time
	@Benchmarks/bench --workloads growth

bench-swift: ## Swift servers, timeouts, posts, children beside SwiftNIO (REPS=5 PEER_SOURCES=FOLDER); PUBLISH=1 writes docs/bench/swift.md
	@Benchmarks/swift/measure $(REPS) $(if $(PUBLISH),--publish)

bench-smoke: ## Runs each benchmark briefly, to check that all still work
	@Benchmarks/bench --smoke
	@Benchmarks/linux/measure --smoke
	@Benchmarks/swift/measure --smoke

bench-tasks: ## Swift concurrency on RunLoopKitSingleThread and on the runtime's executors, a table (REPS=7)
	@Benchmarks/tasks/measure $(REPS)

bench-linux: ## Signals, children, files, posts and streams, beside libuv and GLib (REPS=7); PUBLISH=1 writes docs/bench/linux.md
	@Benchmarks/linux/measure $(REPS) $(if $(PUBLISH),--publish)

bench-asyncio: ## The event loop of Interop/Bindings/python beside asyncio's own (REPS=7 W="ready echo"); libraries from PyPI
	@mkdir -p $(BUILD)/bindings/python
	@OUT=$(abspath $(BUILD))/bindings/python Interop/Tests/Bindings/python/run environment
	@W="$(W)" $(BUILD)/bindings/python/venv/bin/python Benchmarks/asyncio/measure $(REPS)

size: ## Size and start of one small program: C, Swift with RunLoopKit, Swift with Foundation
	@Benchmarks/size/measure

bench-deps: ## Installs the development packages of the peers (apt-get)
	apt-get update -qq && apt-get install -y libuv1-dev libev-dev libevent-dev libglib2.0-dev libsystemd-dev pkg-config strace valgrind wrk

#-- formats, checks, documentation ------------------------------------------------------------------------------------

lint: ## Formats, headers, warnings as errors, what the library exports
	Tools/scripts/lint

format: ## Formats all C and Swift files in place
	git ls-files '*.c' '*.h' | xargs clang-format -i
	swift-format format --in-place --recursive Package*.swift Sources Compat Simulation Interop Packaging Tests Examples

docs: ## The documentation of every product in build/docs; checks that each public symbol has a comment and all code compiles
	@Tools/scripts/docs
	@Tools/scripts/check-examples
	@echo "To read it: make docs-serve, and open $(DOCS_ADDRESS)"

DOCS_PORT ?= 8000
DOCS_ADDRESS := http://127.0.0.1:$(DOCS_PORT)/

test-docs: ## Looks at pages and drawings of the documentation, and at the page of trace-demo, in a browser (needs chromium-headless-shell)
	@Tests/bin/pictures
	@[ -e build/docs/index.html ] || Tools/scripts/docs
	@$(MAKE) -s trace-demo
	@cp build/trace-demo.html build/docs
	@Tests/bin/docs-pages

docs-serve: ## Serves what make docs has built, at http://127.0.0.1:8000/ (DOCS_PORT=8001 for another one)
	@[ -e build/docs/index.html ] || Tools/scripts/docs
	@echo "Open $(DOCS_ADDRESS) and end this with Ctrl-C."
	@exec python3 -m http.server --bind 127.0.0.1 --directory build/docs $(DOCS_PORT)

clean: ## Removes everything that was built
	rm -rf $(BUILD) .build
