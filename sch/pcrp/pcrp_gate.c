// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCRP's sender: REQUESTs, PROBEs and GRANTs of its flows
 *
 * Part of the algorithm core that pcrp_sender.c describes.
 *
 *	         GRANT of any offset
 *	+-----------+ -----------------> +-------+ -.
 *	|  ungated  |                    | gated |   | GRANT: activates chains
 *	+-----------+ <----------------- +-------+ <-'
 *	              the peer is silent
 *
 * A GRANT activates at most two chains beyond the bytes sent, whatever its offset. So a
 * receiver that misbehaves, or a forger who knows the cookie, cannot release more.
 */

#include <closnet/core.h>
#include "pcrp_tx.h"

/* Chains beyond the bytes sent that GRANTs may activate */
#define PCRP_CHAINS_AHEAD	2

/*
 * Charge a PROBE to the budget of the link, which allows PCRP_PROBE_BURST of them at once,
 * and reserve a time for the sender's next one. So the senders take turns.
 */
static void pcrp_tx_charge_probe(struct pcrp_sender *s, u64 now)
{
	u64 gap_ns = s->params->probe_gap_ns, burst_ns = (PCRP_PROBE_BURST - 1) * gap_ns;
	s64 last_ns = atomic64_read(&s->link->probe_ns), next_ns;

	do {
		next_ns = max_t(s64, last_ns, now - burst_ns) + gap_ns;
	} while (!atomic64_try_cmpxchg(&s->link->probe_ns, &last_ns, next_ns));
	s->probe_from_ns = next_ns;
	pcrp_tx_count(&s->stats.probes_sent);
}

/**
 * pcrp_tx_request_sent() - account for a REQUEST or PROBE
 * @s: sender
 * @f: flow that pcrp_tx_pick() returned
 * @action: PCRP_TX_REQUEST or PCRP_TX_PROBE
 * @now: the time, ns
 *
 * Call it before the packet is built, which then carries the flow's new values:
 * @announced as size, @sent as offset, @prio, @chain_no and @request_no.
 */
void pcrp_tx_request_sent(struct pcrp_sender *s, struct pcrp_tx_flow *f,
			  enum pcrp_tx_action action, u64 now)
{
	f->request_due = false;
	f->request_no++;
	f->request_ns = now;
	f->last_ns = now;
	f->announced = f->size;
	if (f->state == PCRP_TX_READY && pcrp_tx_begins_chain(f))
		pcrp_tx_begin_chain(s, f);
	if (action == PCRP_TX_PROBE) {
		f->probe_ns = min_t(u32, 2 * f->probe_ns, PCRP_PROBE_MAX_NS);
		pcrp_tx_charge_probe(s, now);
	} else {
		pcrp_tx_count(&s->stats.requests_sent);
	}
	pcrp_tx_rearm(s, f);
}

/**
 * pcrp_tx_ungate() - send an unfinished flow without GRANTs, as its peer is silent
 * @s: sender
 * @f: the flow
 * @now: the time, ns
 *
 * A GRANT would gate it again. Each of its later chains would send a REQUEST.
 */
void pcrp_tx_ungate(struct pcrp_sender *s, struct pcrp_tx_flow *f, u64 now)
{
	if (f->gate == PCRP_GATE_GRANT)
		pcrp_tx_count(&s->stats.flows_ungated);
	pcrp_tx_clear_begun(f);
	f->gate = PCRP_GATE_DISCOVER;
	f->granted = U64_MAX;
	f->chain_end = f->sent + s->params->chain_bytes;
	f->prio = PCRP_PRIO_UNGATED;
	f->request_due = false;
	pcrp_tx_rearm(s, f);
	pcrp_tx_resettle(s, f, now);
}

/*
 * Gate a flow whose peer has answered. The chain that it is sending counts as granted,
 * since a round trip passes before a GRANT can come.
 */
static void pcrp_tx_gate(struct pcrp_sender *s, struct pcrp_tx_flow *f, u8 prio)
{
	f->gate = PCRP_GATE_GRANT;
	f->granted = f->sent + s->params->chain_bytes;
	f->chain_end = f->granted;
	f->prio = prio;
	pcrp_tx_set_begun(s, f);
}

static enum pcrp_grant_result pcrp_tx_refuse_grant(struct pcrp_sender *s, bool late)
{
	if (late)
		pcrp_tx_count(&s->stats.grants_late);
	else
		pcrp_tx_count(&s->stats.grants_refused);
	return late ? PCRP_GRANT_LATE : PCRP_GRANT_REFUSED;
}

/* Time from the REQUEST or PROBE to its first answer, ns; 0: unknown */
static u64 pcrp_tx_measure_rtt(struct pcrp_tx_flow *f, const struct pcrp_grant *g, u64 now)
{
	u64 sent_ns = f->request_ns;

	if (!g->request_no || g->request_no != f->request_no || !sent_ns)
		return 0;
	f->request_ns = 0;
	return now - sent_ns;
}

/* Activate chains up to the GRANT's offset, at most PCRP_CHAINS_AHEAD of them. */
static enum pcrp_grant_result pcrp_tx_activate(struct pcrp_sender *s, struct pcrp_tx_flow *f,
					       u64 granted, u8 prio, u64 now)
{
	const struct pcrp_tx_params *p = s->params;
	u64 ahead = PCRP_CHAINS_AHEAD * (u64)max_t(u32, p->chain_bytes, p->first_bytes);

	granted = min_t(u64, granted, f->sent + ahead);
	if (granted <= f->granted) {
		pcrp_tx_count(&s->stats.grants_idle);
		return PCRP_GRANT_IDLE;
	}
	f->granted = granted;
	f->next_prio = prio;
	f->overdue = false;
	f->probe_ns = p->probe_ns;
	pcrp_tx_count(&s->stats.grants_received);
	if (pcrp_tx_must_announce(s, f))
		f->request_due = true;
	pcrp_tx_rearm(s, f);
	pcrp_tx_resettle(s, f, now);
	return PCRP_GRANT_NEW;
}

/**
 * pcrp_tx_grant() - apply a GRANT whose cookie is right
 * @s: sender
 * @f: slot that the GRANT names; NULL: there is no such slot
 * @g: content of the GRANT
 * @now: when it was received, ns
 * @rtt_ns: result: time since the REQUEST or PROBE that it answers; 0: unknown
 *
 * Whatever it says, at most PCRP_CHAINS_AHEAD chains become active.
 *
 * Return: its effect.
 */
enum pcrp_grant_result pcrp_tx_grant(struct pcrp_sender *s, struct pcrp_tx_flow *f,
				     const struct pcrp_grant *g, u64 now, u64 *rtt_ns)
{
	u8 prio = max_t(u8, min_t(u8, g->prio, PCRP_PRIO_LAST), TC_PCRP_SPEC_PRIOS);

	*rtt_ns = 0;
	if (!f || f->state == PCRP_TX_UNUSED)
		return pcrp_tx_refuse_grant(s, false);
	if (f->flow_no != g->flow_no)
		return pcrp_tx_refuse_grant(s, (s32)(f->flow_no - g->flow_no) > 0);
	f->known = true;
	*rtt_ns = pcrp_tx_measure_rtt(f, g, now);
	if (pcrp_tx_finished(f) || f->gate == PCRP_GATE_NONE)
		return pcrp_tx_refuse_grant(s, true);
	if (f->gate == PCRP_GATE_DISCOVER)
		pcrp_tx_gate(s, f, prio);
	return pcrp_tx_activate(s, f, g->granted, prio, now);
}
