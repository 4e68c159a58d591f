# SPDX-License-Identifier: GPL-2.0-only
# Builds the C tools of kselftests: TOOLS, each from the .c files that it
# depends on. A Makefile sets TOOLS, includes this, and tells what they depend
# on. O=DIR: where they are built.
O ?= ../../build/selftests
CFLAGS ?= -O2 -g
CFLAGS += -Wall -Wextra -Wshadow -Werror=implicit-function-declaration -I../../include/uapi

all: $(addprefix $(O)/,$(TOOLS))

$(O)/%:
	@mkdir -p $(O)
	$(CC) $(CFLAGS) -o $@ $(filter %.c,$^) $(LDLIBS)

clean:
	$(RM) $(addprefix $(O)/,$(TOOLS))

.PHONY: all clean
