# SPDX-License-Identifier: GPL-2.0-only
# Short flows of 10 KB, and one in ten that is 100 to 1000 times longer
#
# Made up for PCRP's hotspot: the paper's long flows are hundreds of times as long as its short ones.
10000 0
10000 0.9
1000000 0.9
10000000 1
