/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoint tcp_probe: called for each packet to an established connection, of
 * all congestion controls, before the stack has done anything with it. The
 * socket is locked. It is the only place that has both socket and packet.
 *
 * For a module's only source file.
 */
#ifndef _CC_PROBE_H
#define _CC_PROBE_H

#include <linux/printk.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/tcp.h>

static struct tracepoint *cc_tracepoint;

static void __init cc_match_tracepoint(struct tracepoint *tp, void *found)
{
	if (!strcmp(tp->name, "tcp_probe"))
		*(struct tracepoint **)found = tp;
}

/*
 * The kernel does not export this tracepoint, but lets us look for it. @probe:
 * of a type that check_trace_callback_type_tcp_probe() takes
 */
static int __init cc_probe_register(void *probe)
{
	for_each_kernel_tracepoint(cc_match_tracepoint, &cc_tracepoint);
	if (!cc_tracepoint) {
		pr_err("this kernel has no tracepoint tcp_probe\n");
		return -ENOENT;
	}
	return tracepoint_probe_register(cc_tracepoint, probe, NULL);
}

static void cc_probe_unregister(void *probe)
{
	tracepoint_probe_unregister(cc_tracepoint, probe, NULL);
	tracepoint_synchronize_unregister();
}

#endif /* _CC_PROBE_H */
