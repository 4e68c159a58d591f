/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of a new qdisc that hold for other qdiscs too: undone if the kernel refuses it
 *
 * The kernel may refuse a qdisc after its init(), for example because of its rate estimator. It
 * then calls destroy() before it releases RTNL. So a qdisc that exists when a work item gets RTNL
 * is accepted. One that is deleted earlier counts as refused: its options go with it.
 */
#ifndef _CLOSNET_TRIAL_H
#define _CLOSNET_TRIAL_H

#include <linux/workqueue.h>

struct Qdisc;

/**
 * struct closnet_trial - the newest qdisc that has set options of other qdiscs
 * @sch: the qdisc; NULL: it is accepted. Under RTNL
 * @work: accepts it
 */
struct closnet_trial {
	struct Qdisc *sch;
	struct work_struct work;
};

#define CLOSNET_TRIAL_INIT(name) { .work = __WORK_INITIALIZER((name).work, closnet_trial_work) }

void closnet_trial_work(struct work_struct *work);
void closnet_trial_begin(struct closnet_trial *t, struct Qdisc *sch);
bool closnet_trial_failed(struct closnet_trial *t, const struct Qdisc *sch);
void closnet_trial_exit(struct closnet_trial *t);

/**
 * closnet_trial_end() - accept the qdisc, before another one sets the same options
 * @t: the trial
 */
static inline void closnet_trial_end(struct closnet_trial *t)
{
	t->sch = NULL;
}

#endif /* _CLOSNET_TRIAL_H */
