# Builds the explorer with the core in CORE, in the folder OUT: make -f Tests/Explorer/build.mk CORE=… OUT=…
#
# The core and the scenes are compiled as for the thread sanitizer, whose functions are the explorer's (instrumented.c), and what they ask of the
# libc is linked to the explorer's functions (calls.c). So the core's files are the shipped ones.
CORE ?= Sources/CRunLoopCore
OUT ?= build/explorer
HERE := Tests/Explorer
CC := gcc
OPTIMIZE := -O1

FLAGS := -std=gnu11 -D_GNU_SOURCE -g -fno-pie -Wall -Wextra -Werror -MMD -MP
SEEN := $(FLAGS) $(OPTIMIZE) -fsanitize=thread -DRUNLOOP_DEBUG -I$(CORE)/include -I$(CORE)/src -I$(HERE)
CORE_FLAGS := $(SEEN) -DRUNLOOP_BUILDING_CORE
CORE_OBJECTS := $(patsubst $(CORE)/src/%.c,$(OUT)/core/%.o,$(wildcard $(CORE)/src/*/*.c))
SCENES := $(patsubst $(HERE)/%.c,$(OUT)/%.o,$(wildcard $(HERE)/scenes/*.c))
EXPLORER := $(patsubst $(HERE)/%.c,$(OUT)/%.o,$(wildcard $(HERE)/*.c))

$(OUT)/explorer: $(EXPLORER) $(SCENES) $(CORE_OBJECTS)
	@nm $(OUT)/calls.o | sed -n 's/.* T __wrap_/--wrap=/p' > $(OUT)/replaced
	@$(CC) -no-pie -o $@ $^ -Wl,@$(OUT)/replaced

$(OUT)/core/%.o: $(CORE)/src/%.c $(HERE)/build.mk
	@mkdir -p $(@D)
	@$(CC) $(CORE_FLAGS) -c $< -o $@
$(OUT)/scenes/%.o: $(HERE)/scenes/%.c $(HERE)/build.mk
	@mkdir -p $(@D)
	@$(CC) $(SEEN) -c $< -o $@
$(OUT)/%.o: $(HERE)/%.c $(HERE)/build.mk
	@mkdir -p $(@D)
	@$(CC) $(FLAGS) -O2 -c $< -o $@

-include $(EXPLORER:.o=.d) $(SCENES:.o=.d) $(CORE_OBJECTS:.o=.d)
