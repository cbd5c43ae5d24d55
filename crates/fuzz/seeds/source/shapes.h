#ifndef _SHAPES_H
#define _SHAPES_H
#define PAIR(t) t first; t second

struct shapes {
	int		a;		/* first */
	unsigned int	b:3, c:5;	// bits
#ifdef CONFIG_SMP
	int		on_smp;
# if defined(CONFIG_A) && !IS_ENABLED(CONFIG_B)
	int		nested, *twice[4];
# elif X > 2
	int		other;
# else
	char		last_arm[8];
# endif
#endif /* CONFIG_SMP */
	union {
		struct list_head	link;
		u64			both[2];
	};
	struct { int x; } inner ____cacheline_aligned_in_smp;
	int (*call)(struct shapes *, int (*)(void));
	struct_group(range,
		int one;
		int two;
	);
	__cacheline_group_begin(hot);
	atomic_t	count __aligned(64);
	__cacheline_group_end(hot);
	DECLARE_BITMAP(bits, 64);
	/* must be last */
	char		tail[];
} __randomize_layout;

static void clear(struct shapes *s)
{
	struct shapes t = { 1, 2, .inner = { 3 } };

	memset(s, 0, offsetof(struct shapes, count));
	memset_after(s, 0, link);
	BUILD_BUG_ON(offsetof(struct shapes, a) != 0);
	s = container_of((struct list_head *)s, struct shapes, link);
	*s = t;
}

static int __init shapes_init(void)
{
	int ret = 0;

	BUILD_BUG_ON(sizeof(struct shapes) > 256);
	return ret;
}
#endif
