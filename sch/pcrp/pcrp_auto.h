/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP's parameters that follow from link rate and round-trip time
 */
#ifndef _PCRP_AUTO_H
#define _PCRP_AUTO_H

#include <closnet/core.h>

u32 pcrp_auto_chain(u64 rate_Bps, u32 rtt_ns, u32 packet);
u64 pcrp_auto_mfwt(u64 rate_Bps, u32 chain_bytes);
u32 pcrp_auto_probe_ns(u32 rtt_ns, u64 rate_Bps, u32 chain_bytes);
u64 pcrp_auto_probe_gap_ns(u64 rate_Bps);

#endif /* _PCRP_AUTO_H */
