# Builds the explorer with the libraries in SOURCES, in the folder OUT: make -f Tests/Proof/Explorer/build.mk SOURCES=… OUT=…
#
# The core and the scenes are compiled as for the thread sanitizer, whose functions are the explorer's (instrumented.c), and what
# they ask of the libc is linked to the explorer's functions (calls.c). So their files are the shipped ones.
SOURCES ?= Sources
OUT ?= build/explorer
HERE := Tests/Proof/Explorer
CORE := $(SOURCES)/CRunLoopCore
CC := gcc
OPTIMIZE := -O1

FLAGS := -std=gnu11 -D_GNU_SOURCE -g -fno-pie -Wall -Wextra $(if $(WERROR),-Werror) -MMD -MP
SEEN := $(FLAGS) $(OPTIMIZE) -fsanitize=thread -DRUNLOOP_DEBUG -I$(CORE)/include

CORE_OBJECTS := $(patsubst $(CORE)/src/%.c,$(OUT)/core/%.o,$(wildcard $(CORE)/src/*/*.c))
SCENES := $(patsubst $(HERE)/%.c,$(OUT)/%.o,$(wildcard $(HERE)/scenes/*.c))
EXPLORER := $(patsubst $(HERE)/%.c,$(OUT)/%.o,$(wildcard $(HERE)/*.c))

$(OUT)/explorer: $(EXPLORER) $(SCENES) $(CORE_OBJECTS)
	@nm $(OUT)/calls.o | sed -n 's/.* T __wrap_/--wrap=/p' > $(OUT)/replaced
	@$(CC) -no-pie -o $@ $^ -Wl,@$(OUT)/replaced

$(OUT)/core/%.o: $(CORE)/src/%.c $(HERE)/build.mk
	@mkdir -p $(@D)
	@$(CC) $(SEEN) -I$(CORE)/src -DRUNLOOP_BUILDING_CORE -c $< -o $@
$(OUT)/scenes/%.o: $(HERE)/scenes/%.c $(HERE)/build.mk
	@mkdir -p $(@D)
	@$(CC) $(SEEN) -I$(HERE) -c $< -o $@
$(OUT)/%.o: $(HERE)/%.c $(HERE)/build.mk
	@mkdir -p $(@D)
	@$(CC) $(FLAGS) -O2 -c $< -o $@

-include $(wildcard $(OUT)/*.d $(OUT)/*/*.d $(OUT)/*/*/*.d)
