# SPDX-License-Identifier: GPL-2.0-only
"""The virtual-time lab. Both sides: params, experiment. In the guest: guest, topo. On the host: guests, results, shell."""
