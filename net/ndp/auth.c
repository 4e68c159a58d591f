// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: authentication of headers by a shared key
 *
 * All hosts of a network share a key: sysctl net.ndp.key. A header is then followed by a tag, and
 * packets without a valid tag are dropped:
 *
 *	| UDP | header, 56 bytes | tag, 8 bytes | payload |
 *	tag = SipHash-2-4(key, source address | destination address | header)
 *
 * The tag is within the bytes that switches keep of a trimmed packet, so it cannot cover the
 * payload. It proves that a host with the key made the header for these addresses. A host that
 * sees packets can still replay them, and change payload: that requires IPsec or MACsec.
 *
 * From its first NDP socket on, a namespace has tags or not, because the lengths of packets depend
 * on it. A key may be replaced at any time: there are two, the first one signs, and both are
 * accepted.
 */
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <closnet/pkt_core.h>
#include "ndp.h"

#define NDP_KEYS	2
#define NDP_KEY_CHARS	35	/* 8 hexadecimal digits, 4 times, and 3 hyphens */
/* two keys and a comma, and one character more than is valid */
#define NDP_KEY_TEXT	(NDP_KEYS * (NDP_KEY_CHARS + 1) + 1)

/**
 * struct ndp_keys - keys of a namespace
 * @rcu: frees it
 * @count: 1 or 2
 * @key: the first one signs
 */
struct ndp_keys {
	struct rcu_head rcu;
	u32 count;
	siphash_key_t key[NDP_KEYS];
};

/* ---- tags ---- */

/**
 * struct ndp_auth_text - input of the hash; 88 bytes, no holes
 * @from: source address
 * @to: destination address
 * @header: header
 */
struct ndp_auth_text {
	struct in6_addr from;
	struct in6_addr to;
	u8 header[NDP_HLEN];
} __aligned(SIPHASH_ALIGNMENT);

static_assert(sizeof(struct ndp_auth_text) == 2 * sizeof(struct in6_addr) + NDP_HLEN);

static void ndp_auth_text(const struct in6_addr *from, const struct in6_addr *to, const u8 *b,
			  struct ndp_auth_text *text)
{
	text->from = *from;
	text->to = *to;
	memcpy(text->header, b, NDP_HLEN);
}

/**
 * ndp_auth_sign() - add the tag to a header
 * @peer: destination
 * @b: header; the tag is written behind it
 *
 * For namespaces with a key. Any context but hard interrupts.
 */
void ndp_auth_sign(const struct ndp_peer *peer, u8 *b)
{
	const struct ndp_addrs *a = &peer->key.addrs;
	struct ndp_auth_text text;
	const struct ndp_keys *keys;

	ndp_hdr_set_keyed(b);
	ndp_auth_text(&a->local, &a->remote, b, &text);
	rcu_read_lock();
	keys = rcu_dereference(peer->nn->keys);
	closnet_put(b + NDP_HLEN, NDP_TAG_LEN, siphash(&text, sizeof(text), &keys->key[0]));
	rcu_read_unlock();
}

/**
 * ndp_auth_check() - check the tag of a header
 * @nn: namespace
 * @from: source address with which the packet was made
 * @to: destination address
 * @h: header
 * @b: its bytes, and the tag if @h has one
 *
 * Under RCU.
 *
 * Return: true if it has a valid tag, or if neither the packet nor the namespace has one.
 */
bool ndp_auth_check(const struct ndp_net *nn, const struct in6_addr *from,
		    const struct in6_addr *to, const struct ndp_hdr *h, const u8 *b)
{
	struct ndp_auth_text text;
	const struct ndp_keys *keys;
	u64 tag;
	u32 i;

	if (h->keyed != nn->keyed)
		return false;
	if (!h->keyed)
		return true;
	if (h->is_short)
		return false;
	ndp_auth_text(from, to, b, &text);
	tag = closnet_get(b + NDP_HLEN, NDP_TAG_LEN);
	keys = rcu_dereference(nn->keys);
	for (i = 0; i < keys->count; i++)
		if (tag == siphash(&text, sizeof(text), &keys->key[i]))
			return true;
	return false;
}

/* ---- keys ---- */

/* Read a key like 00112233-44556677-8899aabb-ccddeeff. */
static bool ndp_key_read(const char *text, siphash_key_t *key)
{
	u32 word[4];

	if (strlen(text) != NDP_KEY_CHARS ||
	    sscanf(text, "%8x-%8x-%8x-%8x", &word[0], &word[1], &word[2], &word[3]) != 4)
		return false;
	key->key[0] = (u64)word[0] << 32 | word[1];
	key->key[1] = (u64)word[2] << 32 | word[3];
	return true;
}

static void ndp_keys_write(const struct ndp_keys *keys, char *text)
{
	int at = 0;
	u32 i;

	text[0] = '\0';
	for (i = 0; keys && i < keys->count; i++) {
		const u64 *k = keys->key[i].key;

		at += scnprintf(text + at, NDP_KEY_TEXT - at, "%s%08x-%08x-%08x-%08x",
				i ? "," : "", (u32)(k[0] >> 32), (u32)k[0], (u32)(k[1] >> 32),
				(u32)k[1]);
	}
}

/* Return: keys; NULL: an empty text; -EINVAL, -ENOMEM */
static struct ndp_keys *ndp_keys_read(char *text)
{
	struct ndp_keys *keys;
	char *one;

	if (!*text)
		return NULL;
	keys = kzalloc(sizeof(*keys), GFP_KERNEL);
	if (!keys)
		return ERR_PTR(-ENOMEM);
	while ((one = strsep(&text, ","))) {
		if (keys->count == NDP_KEYS || !ndp_key_read(one, &keys->key[keys->count])) {
			kfree_sensitive(keys);
			return ERR_PTR(-EINVAL);
		}
		keys->count++;
	}
	return keys;
}

static void ndp_keys_free_rcu(struct rcu_head *rcu)
{
	kfree_sensitive(container_of(rcu, struct ndp_keys, rcu));
}

static void ndp_keys_free(struct ndp_keys *keys)
{
	if (keys)
		call_rcu(&keys->rcu, ndp_keys_free_rcu);
}

static int ndp_keys_set(struct ndp_net *nn, char *text)
{
	struct ndp_keys *keys = ndp_keys_read(text);
	int err = 0;

	if (IS_ERR(keys))
		return PTR_ERR(keys);
	mutex_lock(&nn->udp_lock);
	if (nn->udp_taken && nn->keyed != !!keys) {
		err = -EBUSY;
	} else {
		keys = rcu_replace_pointer(nn->keys, keys, lockdep_is_held(&nn->udp_lock));
		nn->keyed = !!rcu_access_pointer(nn->keys);
	}
	mutex_unlock(&nn->udp_lock);
	ndp_keys_free(keys);
	return err;
}

/**
 * ndp_auth_sysctl() - read or write net.ndp.key
 * @table: entry; its data is struct ndp_net
 * @write: write
 * @buffer: text
 * @lenp: its length
 * @ppos: position
 *
 * Return: 0; -EINVAL: not one or two keys; -EBUSY: the namespace has an NDP socket, and would
 * begin or cease to use tags; or another error.
 */
int ndp_auth_sysctl(closnet_ctl_table *table, int write, void *buffer, size_t *lenp, loff_t *ppos)
{
	struct ndp_net *nn = table->data;
	char text[NDP_KEY_TEXT + 1] = "";
	struct ctl_table line = { .data = text, .maxlen = sizeof(text) };
	int err;

	if (!write) {
		rcu_read_lock();
		ndp_keys_write(rcu_dereference(nn->keys), text);
		rcu_read_unlock();
	}
	err = proc_dostring(&line, write, buffer, lenp, ppos);
	if (!err && write)
		err = ndp_keys_set(nn, text);
	memzero_explicit(text, sizeof(text));
	return err;
}

/**
 * ndp_auth_exit() - free the keys of a namespace that ends
 * @nn: namespace without packets
 */
void ndp_auth_exit(struct ndp_net *nn)
{
	ndp_keys_free(rcu_dereference_protected(nn->keys, true));
}
