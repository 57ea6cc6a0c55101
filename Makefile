# SPDX-License-Identifier: GPL-2.0
#
# The front door, for people. What the module is made of is in Kbuild, which is
# all that the kernel's build system reads.

# Not "?=": an empty value is the same as none.
KERNEL :=
KDIR :=
PREFIX := /usr/local
DESTDIR :=
INSTALL_MOD_PATH := $(DESTDIR)
DEMO_ARGS :=

# The series that "make module" builds for where the running kernel has no
# headers, and that the demo runs under.
DEFAULT_KERNEL := 6.12

ifeq ($(KDIR),)
 ifeq ($(KERNEL),)
  ifneq ($(wildcard /lib/modules/$(shell uname -r)/build/Makefile),)
   KDIR := /lib/modules/$(shell uname -r)/build
  else
   KERNEL := $(DEFAULT_KERNEL)
  endif
 endif
 # Recursive: "deps" may first have to bring that kernel.
 ifneq ($(KERNEL),)
  KDIR = $(shell bash -c '. scripts/lib.sh; kernel_build "$$1"' - $(KERNEL))
 endif
endif

# The kernel that guests boot.
VM_KERNEL := $(or $(KERNEL),$(DEFAULT_KERNEL))

# Recursive: read when a recipe needs it, that is after "deps" has run. What a
# kernel calls itself names the folder that holds the module built for it. Not
# kernel.release: in Debian 6.1's headers it has the upstream version instead.
RELEASE = $(shell sed -n 's/^\#define UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
OUT = build/$(RELEASE)

# Extra words for the kernel's build system: W=1e, C=2, ...
KBUILD_ARGS = $(if $(W),W=$(W)) $(if $(C),C=$(C)) $(if $(CF),CF="$(CF)") $(if $(V),V=$(V))

# A build of a dozen files uses all CPUs, unless "make -j" has said how many.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

kbuild = $(MAKE) $(JOBS) -C $(KDIR) M=$(CURDIR)/$(1) $(KBUILD_ARGS)

TOOLS := $(patsubst %/Makefile,%,$(wildcard tools/dlcbf/Makefile tools/testing/Makefile))

.PHONY: help
help:
	@echo 'nf_dlcbf: counts and filters network flows with a d-left counting Bloom filter.'
	@echo
	@echo 'Building and installing:'
	@echo '  make deps            installs what is missing (Debian 12, as root)'
	@echo '  make all             the module and the tools'
	@echo '  make module          nf_dlcbf.ko, in build/RELEASE/'
	@echo '  make tools           the dlcbf command and the test tools'
	@echo '  make install         both, under PREFIX (/usr/local) and /lib/modules'
	@echo '  make uninstall'
	@echo '  make clean           removes build/'
	@echo
	@echo 'Trying it, without loading anything into this machine'\''s kernel:'
	@echo '  make demo            a gateway in a virtual machine, with real traffic'
	@echo '  scripts/vm -i        a shell in a virtual machine'
	@echo
	@echo 'Checking it:'
	@echo '  make check           everything below; ends with one line of sums'
	@echo '  make lint            style, warnings, sparse, shellcheck'
	@echo '  make check-user      the filter'\''s tests, in userspace'
	@echo '  make check-kernel    the module'\''s tests, in virtual machines'
	@echo '  make selftest        the selftests under one kernel, shown as they run'
	@echo '  make kunit           runs the KUnit suites in a kernel that it builds'
	@echo
	@echo 'Variables:'
	@echo '  KERNEL=6.12 or 6.1   build for and boot that Debian kernel'
	@echo '  KDIR=DIR             build for the kernel with this build folder'
	@echo '  PREFIX=DIR DESTDIR=DIR INSTALL_MOD_PATH=DIR   where install puts things'
	@echo '  W=1e C=2 V=1         as in the kernel'\''s own build'

.PHONY: all
all: module tools

.PHONY: deps
deps:
	scripts/install-deps all

# The kernel's build system puts objects beside the sources. A folder of links
# for each kernel keeps them apart, and the tree clean. Links to sources that
# are gone go too, or the next build would trip over them.
.PHONY: links
links:
	@test -n '$(RELEASE)' || { \
		echo 'No kernel headers in $(KDIR): run "make deps", or give KDIR.' >&2; exit 1; }
	@mkdir -p $(OUT)
	@# Another build may be making and removing files in there.
	@find $(OUT) -ignore_readdir_race -xtype l -delete
	@find Kbuild dlcbf_core nf_dlcbf kunit -path dlcbf_core/user -prune -o \
		-type f \( -name '*.[ch]' -o -name Kbuild \) -print 2>/dev/null | \
	while read -r file; do \
		test '$(CURDIR)'/"$$file" -ef $(OUT)/"$$file" && continue; \
		mkdir -p "$$(dirname $(OUT)/"$$file")"; \
		ln -sfn '$(CURDIR)'/"$$file" $(OUT)/"$$file"; \
	done
	@# build/6.12 is easier to type, and to write in a document.
	@case '$(KERNEL)' in [0-9]*) test '$(OUT)' = build/$(RELEASE) && \
		ln -sfn $(RELEASE) build/$(KERNEL) || : ;; esac

.PHONY: module
module: links
	+$(call kbuild,$(OUT)) modules

# Distributions' kernels have KUnit off, so that its symbols are missing at the
# last step: for them it can only be seen that the suites compile.
.PHONY: kunit kunit-modules
kunit-modules: links
	+$(call kbuild,$(OUT)/kunit) CONFIG_KUNIT=m KBUILD_MODPOST_WARN=1 modules

kunit:
	scripts/install-deps build vm
	scripts/kernel uml
	$(MAKE) kunit-modules KERNEL=uml
	scripts/kunit

.PHONY: tools $(TOOLS)
tools: $(TOOLS)

$(TOOLS):
	$(MAKE) -C $@

MODDIR = $(INSTALL_MOD_PATH)/lib/modules/$(RELEASE)
# A package has no list of modules: the system that it is installed in makes it.
depmod = $(if $(DESTDIR),:,depmod $(if $(INSTALL_MOD_PATH),-b '$(INSTALL_MOD_PATH)') $(RELEASE))

# Not the kernel's modules_install: without the kernel's own tree it skips
# depmod, so that modprobe does not find what was installed, and it complains
# about a signing key that nobody but Debian has.
.PHONY: install uninstall
install: all
	install -D -m 644 $(OUT)/nf_dlcbf.ko '$(MODDIR)/extra/nf_dlcbf.ko'
	strip --strip-debug '$(MODDIR)/extra/nf_dlcbf.ko'
	$(depmod)
	$(MAKE) -C tools/dlcbf install PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)'

uninstall:
	rm -f '$(MODDIR)/extra/nf_dlcbf.ko'
	test ! -d '$(MODDIR)' || $(depmod)
	$(MAKE) -C tools/dlcbf uninstall PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)'

# Each of the next builds for the kernel that it boots, whatever runs here.
.PHONY: demo
demo: deps
	$(MAKE) all KERNEL=$(VM_KERNEL)
	scripts/demo -k $(VM_KERNEL) $(DEMO_ARGS)

.PHONY: selftest
selftest:
	scripts/install-deps build vm demo
	$(MAKE) all KERNEL=$(VM_KERNEL)
	scripts/vm -k $(VM_KERNEL) -t 2700 -m 3072 tools/testing/selftests/run.sh

.PHONY: check lint check-user check-kernel
check: deps
	scripts/check

lint: deps
	scripts/check host-lint

check-user:
	scripts/install-deps build
	scripts/check host-user

check-kernel: deps
	scripts/check first vm

.PHONY: clean
clean:
	rm -rf build
	@for dir in $(TOOLS) $(patsubst %/Makefile,%,$(wildcard dlcbf_core/user/Makefile)); do \
		$(MAKE) -C $$dir clean; \
	done
