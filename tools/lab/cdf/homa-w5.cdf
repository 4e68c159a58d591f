# SPDX-License-Identifier: GPL-2.0-only
# Homa W5: the web search of DCTCP
#
# Paper: B. Montazeri et al., "Homa", SIGCOMM 2018, Figure 1.
# Source: https://github.com/PlatformLab/HomaModule, util/dist.cc (commit 118f9ffd8f5e), array w5. Its
# sizes are multiples of packets of 1430 or 1470 bytes. Points that linear interpolation reproduces, within 1e-6 of
# probability, are omitted. The gap from 4.9 to 10.3 MB is in the source.
0 0
8580 0.150000
11440 0.164286
13230 0.171429
19110 0.200000
27930 0.300000
48510 0.400000
77910 0.530000
195510 0.600000
980490 0.700000
1959510 0.800000
4899510 0.900000
10291470 0.902505
29400000 1
