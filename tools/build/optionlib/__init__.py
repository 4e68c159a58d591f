# SPDX-License-Identifier: GPL-2.0-only
"""What tools/build/options consists of: spec reads specifications, each other module writes one kind of output."""
