/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The little of the kernel that dlcbf_core uses, for userspace.
 *
 * linux/ beside this file has a header of each name that dlcbf_core includes,
 * and all of them come here.  Memory is accessed with the compiler's __atomic
 * builtins, which thread sanitizers understand.
 */
#ifndef DLCBF_SHIM_H
#define DLCBF_SHIM_H

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* types.h, limits.h */

/* long long as in the kernel, so that the same formats fit */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;

#define U32_MAX		((u32)~0U)
#define U64_MAX		((u64)~0ULL)
#define S64_MAX		((s64)(U64_MAX >> 1))

#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ == 8
#define BITS_PER_LONG	64
#else
#define BITS_PER_LONG	32
#endif

/* compiler.h, cache.h, prefetch.h, bug.h */

#undef __always_inline
#define __always_inline	inline __attribute__((__always_inline__))
#define __maybe_unused	__attribute__((__unused__))
#define noinline	__attribute__((__noinline__))
#define __acquires(x)
#define __releases(x)
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define L1_CACHE_BYTES	64
#define ____cacheline_aligned_in_smp __attribute__((__aligned__(L1_CACHE_BYTES)))
#define prefetch(x)	__builtin_prefetch(x)

#define barrier()	__asm__ __volatile__("" : : : "memory")

/*
 * Thread sanitizers do not follow fences.  Under one of them the load that
 * smp_acquire__after_ctrl_dep() comes after is an acquiring one in its place.
 */
#if defined(__SANITIZE_THREAD__)
#define DLCBF_SHIM_TSAN	1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DLCBF_SHIM_TSAN	1
#endif
#endif
#ifdef DLCBF_SHIM_TSAN
#define READ_ONCE(x)	__atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define smp_acquire__after_ctrl_dep()	barrier()
#else
#define READ_ONCE(x)	__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define smp_acquire__after_ctrl_dep()	__atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)

/* How often a warning would have been printed; tests expect what they provoke. */
extern unsigned long dlcbf_shim_warnings;

#define WARN_ON_ONCE(cond)						\
({									\
	bool __warn = !!(cond);						\
									\
	if (__warn)							\
		__atomic_fetch_add(&dlcbf_shim_warnings, 1,		\
				   __ATOMIC_RELAXED);			\
	__warn;								\
})

/* kernel.h, math.h, math64.h, minmax.h, log2.h, bitops.h, array_size.h */

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define __shim_cmp(a, b, op)						\
({									\
	__typeof__(a) __a = (a);					\
	__typeof__(b) __b = (b);					\
									\
	(void)(&__a == &__b);						\
	__a op __b ? __a : __b;						\
})

#define min(a, b)	__shim_cmp(a, b, <)
#define max(a, b)	__shim_cmp(a, b, >)
#define min_t(t, a, b)	min((t)(a), (t)(b))
#define max_t(t, a, b)	max((t)(a), (t)(b))
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define clamp_t(t, v, lo, hi) clamp((t)(v), (t)(lo), (t)(hi))
#define swap(a, b)							\
do {									\
	__typeof__(a) __tmp = (a);					\
									\
	(a) = (b);							\
	(b) = __tmp;							\
} while (0)

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

static inline u32 reciprocal_scale(u32 val, u32 ep_ro)
{
	return ((u64)val * ep_ro) >> 32;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline s64 div_s64(s64 dividend, s32 divisor)
{
	return dividend / divisor;
}

static inline s64 div64_s64(s64 dividend, s64 divisor)
{
	return dividend / divisor;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

#define ilog2(n)	(fls64(n) - 1)

static inline unsigned long __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

static inline unsigned long rounddown_pow_of_two(unsigned long n)
{
	return 1UL << (fls64(n) - 1);
}

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return 1UL << fls64(n - 1);
}

/* slab.h */

#define GFP_KERNEL	0

/* Tests make the n-th allocation from now on fail; 0 is none. */
extern long dlcbf_shim_alloc_fail_at;

static inline void *kmalloc(size_t size, int flags)
{
	(void)flags;
	return dlcbf_shim_alloc_fail_at && !--dlcbf_shim_alloc_fail_at ?
	       NULL : malloc(size);
}

static inline void kfree(void *p)
{
	free(p);
}

/* overflow.h */

#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)
#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)

/* atomic.h */

typedef struct {
	long counter;
} atomic_long_t;

static inline long atomic_long_read(const atomic_long_t *v)
{
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);
}

static inline void atomic_long_inc(atomic_long_t *v)
{
	__atomic_fetch_add(&v->counter, 1, __ATOMIC_RELAXED);
}

#define try_cmpxchg(ptr, oldp, new)					\
	__atomic_compare_exchange_n((ptr), (oldp), (new), false,	\
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

/* spinlock.h; userspace has no softirqs to disable */

typedef struct {
	char locked;
} spinlock_t;

static inline void spin_lock_init(spinlock_t *lock)
{
	lock->locked = 0;
}

static inline void spin_lock_bh(spinlock_t *lock)
{
	unsigned int spins = 0;

	while (__atomic_test_and_set(&lock->locked, __ATOMIC_ACQUIRE))
		if (++spins % 128 == 0)
			sched_yield();	/* its holder may not be running */
}

static inline void spin_unlock_bh(spinlock_t *lock)
{
	__atomic_clear(&lock->locked, __ATOMIC_RELEASE);
}

/* module.h */

#define EXPORT_SYMBOL_GPL(x)
#define MODULE_LICENSE(x)
#define MODULE_DESCRIPTION(x)

#endif /* DLCBF_SHIM_H */
