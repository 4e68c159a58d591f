# SPDX-License-Identifier: GPL-2.0-only
# closnet: the datacenter's congestion controls as loadable modules.
# The kernel build runs Kbuild; this file is for people. `make help` lists the targets.

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
# Release of KDIR, as modprobe looks it up. With Debian's headers, `make kernelrelease` omits the flavour.
KREL = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
export KVER KDIR
VERSION := $(shell cat VERSION)

DESTDIR ?=
PREFIX ?= /usr
MANDIR ?= $(PREFIX)/share/man
MODDIR = $(DESTDIR)/lib/modules/$(KREL)/updates
UNITDIR ?= $(PREFIX)/lib/systemd/system
# bash-completion reads it at start; its other directory has iproute2's file for tc
BASHDIR ?= /etc/bash_completion.d
MODULES = net/closfab/closfab.ko net/closwire/closwire.ko net/ndp/ndp.ko net/nicclock/nicclock.ko \
	sch/act_lb.ko sch/sch_dcqcn.ko sch/sch_ndp.ko sch/sch_pcrp.ko sch/sch_roce.ko sch/sch_voq.ko \
	tcp_cc/closnet_cc.ko tcp_cc/tcp_dcqcn.ko tcp_cc/tcp_timely.ko
COMPLETION = tools/tc/options.bash tools/tc/completion.bash tools/closnet/completion.bash
# headers for programs that use NDP sockets
HEADERS = include/uapi/linux/ndp.h
MANPAGES = $(wildcard Documentation/man/*.[1-9])
# PCRPD=no: build the tools without pcrpd(8) and its dependencies
PCRPD ?= yes
ifeq ($(PCRPD),no)
MANPAGES := $(filter-out %/pcrpd.8,$(MANPAGES))
endif

PCRPD_DIRS = DESTDIR=$(DESTDIR) SBINDIR=$(PREFIX)/sbin UNITDIR=$(UNITDIR)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

all: modules tools ## build the modules (for KDIR) and the tools

modules: ## build the modules for the running kernel, or for KDIR=...
	@tools/build/check-config -q $(KDIR)
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

tools: ## build the plug-ins of tc and ip, closnet(8), and pcrpd(8) (not with PCRPD=no)
	$(MAKE) -C tools/tc
	$(MAKE) -C tools/closnet
	[ $(PCRPD) = no ] || $(MAKE) -C tools/pcrpd

install: modules tools ## install modules (updates/), depmod, and all of install-tools
	for m in $(MODULES); do install -D -m 644 $$m $(MODDIR)/$${m##*/} || exit 1; done
	depmod -b $(or $(DESTDIR),/) $(KREL)
	$(MAKE) install-tools

install-tools: tools install-headers ## install the plug-ins, closnet(8), pcrpd(8), its units, man pages, completion and headers only
	$(MAKE) -C tools/tc install DESTDIR=$(DESTDIR)
	$(MAKE) -C tools/closnet install DESTDIR=$(DESTDIR) SBINDIR=$(PREFIX)/sbin
	[ $(PCRPD) = no ] || $(MAKE) -C tools/pcrpd install $(PCRPD_DIRS)
	for p in $(MANPAGES); do \
		install -D -m 644 $$p $(DESTDIR)$(MANDIR)/man$${p##*.}/$${p##*/} || exit 1; done
	install -d $(DESTDIR)$(BASHDIR)
	cat $(COMPLETION) >$(DESTDIR)$(BASHDIR)/closnet && chmod 644 $(DESTDIR)$(BASHDIR)/closnet

install-headers: ## install <linux/ndp.h>, for programs that use NDP sockets
	for h in $(HEADERS); do \
		install -D -m 644 $$h $(DESTDIR)$(PREFIX)/include/linux/$${h##*/} || exit 1; done

uninstall: ## remove what install put there
	rm -f $(addprefix $(MODDIR)/,$(notdir $(MODULES)))
	[ ! -d $(MODDIR) ] || rmdir --ignore-fail-on-non-empty $(MODDIR)
	depmod -b $(or $(DESTDIR),/) $(KREL)
	$(MAKE) -C tools/tc uninstall DESTDIR=$(DESTDIR)
	$(MAKE) -C tools/closnet uninstall DESTDIR=$(DESTDIR) SBINDIR=$(PREFIX)/sbin
	$(MAKE) -C tools/pcrpd uninstall $(PCRPD_DIRS)
	for p in $(MANPAGES); do rm -f $(DESTDIR)$(MANDIR)/man$${p##*.}/$${p##*/}; done
	rm -f $(DESTDIR)$(BASHDIR)/closnet
	for h in $(HEADERS); do rm -f $(DESTDIR)$(PREFIX)/include/linux/$${h##*/}; done

check-config: ## list missing features of the kernel of KDIR
	@tools/build/check-config $(KDIR)

demo: ## main job: an incast of NDP beside TCP in a stock kernel's guest, a table and a picture
	@tools/demo

check: ## lint, builds and tests of a submission; SINCE=REV: only those that changes since REV can affect
	@selftests/check $(if $(SINCE),--since $(SINCE))

check-all: ## everything, in hours; SHARD=I/N: the I-th of N equal parts
	@selftests/check --all $(if $(SHARD),--shard $(SHARD))

unit: ## the user-space tests only: seconds, no root
	@tools/deps.sh test
	@$(MAKE) -C selftests/unit check

bench: ## instructions a packet (qdiscs) and an ACK (congestion controls), beside in-tree peers
	@tools/deps.sh build vm
	@selftests/bench/run

lint: ## checkpatch, sparse, shellcheck, codespell, mandoc, house rules
	@tools/deps.sh build lint
	@tools/lint

docs: ## build the documentation site, out/docs/index.html; warnings are errors
	@Documentation/sphinx/build

dist: ## source tarball for DKMS and packagers, in dist/
	@tools/pkg/dist

dkms-install: ## hand the modules to DKMS: built again for each new kernel
	@tools/build/dkms-install

deb: ## Debian packages, in dist/
	@tools/deps.sh deb
	@tools/pkg/deb

diag: ## print the facts that a bug report needs
	@tools/diag

clean: ## remove all build results of this tree
	@if [ -e $(KDIR)/Makefile ]; then $(MAKE) -s -C $(KDIR) M=$(CURDIR) clean; fi
	@$(MAKE) -s -C tools/tc clean
	@$(MAKE) -s -C tools/closnet clean
	@$(MAKE) -s -C tools/pcrpd clean
	@rm -rf build out

help: ## this list
	@echo "closnet $(VERSION); variables: KDIR=$(KDIR) DESTDIR PREFIX"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: all modules tools install install-tools install-headers uninstall check-config demo check check-all unit \
	bench lint docs dist dkms-install deb diag clean help
