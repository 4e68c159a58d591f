// SPDX-License-Identifier: GPL-2.0-only
/*
 * buggy: a module that commits one kind of bug, chosen by the parameter bug, when it is loaded
 *
 * selftests/vm/uml.sh and kcsan.sh check that the debug kernels report each bug. Load it into
 * throw-away guests only: the bugs corrupt the kernel.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static char *bug = "none";
module_param(bug, charp, 0444);
MODULE_PARM_DESC(bug, "none, free, order, sleep, shift, leak or race");

static void nothing(void)
{
}

static void use_after_free(void)
{
	int *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(*p, 1);
}

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);

static void lock_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static DEFINE_SPINLOCK(spin);

static void sleep_in_atomic(void)
{
	void *p;

	spin_lock(&spin);
	p = kzalloc(1000, GFP_KERNEL);
	spin_unlock(&spin);
	kfree(p);
}

static void bad_shift(void)
{
	int by = 33;

	OPTIMIZER_HIDE_VAR(by);
	pr_info("%d\n", 1 << by);
}

static void leak(void)
{
	void *p = kzalloc(1000, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(p);
}

static int counter;

static int increment(void *unused)
{
	while (!kthread_should_stop()) {
		counter++;
		cond_resched();
	}
	return 0;
}

/* Two CPUs increment a plain counter for 3 seconds. */
static void race(void)
{
	struct task_struct *other;

	other = kthread_run_on_cpu(increment, NULL, cpumask_last(cpu_online_mask),
				   "buggy/%u");
	if (IS_ERR(other))
		return;
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	for (unsigned long end = jiffies + 3 * HZ; time_before(jiffies, end);) {
		counter++;
		cond_resched();
	}
	kthread_stop(other);
}

static const struct {
	const char *name;
	void (*commit)(void);
} bugs[] = {
	{ "none", nothing },
	{ "free", use_after_free },
	{ "order", lock_order },
	{ "sleep", sleep_in_atomic },
	{ "shift", bad_shift },
	{ "leak", leak },
	{ "race", race },
};

static int __init buggy_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!strcmp(bug, bugs[i].name)) {
			bugs[i].commit();
			return 0;
		}
	}
	pr_err("unknown bug \"%s\"\n", bug);
	return -EINVAL;
}
module_init(buggy_init);

static void __exit buggy_exit(void)
{
}
module_exit(buggy_exit);

MODULE_DESCRIPTION("Deliberate bugs to test the debug kernels");
MODULE_LICENSE("GPL");
