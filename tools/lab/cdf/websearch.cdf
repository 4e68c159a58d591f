# SPDX-License-Identifier: GPL-2.0-only
# Web search
#
# Paper: M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, the query cluster's flows; in the form that the
# authors of HPCC (Y. Li et al., SIGCOMM 2019) made for their section 5 and others took over. It names no figure.
# Source: https://github.com/alibaba-edu/High-Precision-Congestion-Control, traffic_gen/WebSearch_distribution.txt
# (commit 9cf8b9e8c8d0); percent there, here divided by 100.
0 0
10000 0.15
20000 0.2
30000 0.3
50000 0.4
80000 0.53
200000 0.6
1000000 0.7
2000000 0.8
5000000 0.9
10000000 0.97
30000000 1
