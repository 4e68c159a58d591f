# SPDX-License-Identifier: GPL-2.0-only
# Storage at Alibaba, 2019
#
# Paper: not named; published by the authors of HPCC (Y. Li et al., SIGCOMM 2019) with their generator.
# Source: https://github.com/alibaba-edu/High-Precision-Congestion-Control, traffic_gen/AliStorage2019.txt (commit
# fe18e47f4cde); percent there, here divided by 100.
0 0
4000 0.2293
8000 0.6921
16000 0.8061
32000 0.9047
64000 0.9353
128000 0.9677
256000 0.9753
2000000 1
