# SPDX-License-Identifier: GPL-2.0-only
# Builds the C tools of kselftests. A Makefile sets TOOLS, includes this file, and lists the .c files that each tool
# depends on. O=DIR: output directory
O ?= ../../build/selftests
# for the lists of .c and .h files
NETNS := ../lib/netns.c ../lib/netns.h
PACKET := ../lib/packet.c ../lib/packet.h $(NETNS)
RTNL := ../lib/rtnl.c ../lib/rtnl.h $(NETNS)
CFLAGS ?= -O2 -g
CFLAGS += -Wall -Wextra -Wshadow -Werror=implicit-function-declaration -I../../include/uapi

all: $(addprefix $(O)/,$(TOOLS))

$(O)/%:
	@mkdir -p $(O)
	$(CC) $(CFLAGS) -o $@ $(filter %.c,$^) $(LDLIBS)

clean:
	$(RM) $(addprefix $(O)/,$(TOOLS))

.PHONY: all clean
