# SPDX-License-Identifier: GPL-2.0-only
"""The virtual-time lab. In the guest: guest, topo. On the host: runner, results, shell. On both: params, experiment."""
