// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of a new qdisc that hold for other qdiscs too: undone if the kernel refuses it
 */
#include <linux/rtnetlink.h>
#include <closnet/trial.h>

/**
 * closnet_trial_work() - accept the qdisc, since RTNL was released after its init()
 * @work: the work item of a trial
 */
void closnet_trial_work(struct work_struct *work)
{
	struct closnet_trial *t = container_of(work, struct closnet_trial, work);

	rtnl_lock();
	closnet_trial_end(t);
	rtnl_unlock();
}

/**
 * closnet_trial_begin() - note that a qdisc has set options of other qdiscs, in init()
 * @t: the trial; a qdisc that it has is accepted
 * @sch: the qdisc
 *
 * The caller keeps the options that held before.
 */
void closnet_trial_begin(struct closnet_trial *t, struct Qdisc *sch)
{
	ASSERT_RTNL();
	t->sch = sch;
	schedule_work(&t->work);
}

/**
 * closnet_trial_failed() - test in destroy() whether the kernel has refused a qdisc
 * @t: the trial
 * @sch: the qdisc
 *
 * Return: true: the caller restores the options that held before.
 */
bool closnet_trial_failed(struct closnet_trial *t, const struct Qdisc *sch)
{
	ASSERT_RTNL();
	if (t->sch != sch)
		return false;
	t->sch = NULL;
	return true;
}

/**
 * closnet_trial_exit() - end the work, in the module's exit, without RTNL
 * @t: the trial
 */
void closnet_trial_exit(struct closnet_trial *t)
{
	cancel_work_sync(&t->work);
}
