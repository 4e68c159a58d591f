/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges of sch_pcrp's options, for the cores
 */
#ifndef _CLOSNET_PCRP_LIMITS_H
#define _CLOSNET_PCRP_LIMITS_H

#include "pcrp_options.h"

#define PCRP_MAP_LEAVE		255	/* no DSCP: a packet's DSCP does not change */

#endif /* _CLOSNET_PCRP_LIMITS_H */
