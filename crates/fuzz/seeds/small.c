/* A few types and accesses, compiled to seeds of some kilobytes. */
typedef unsigned long word;
enum state { OFF, ON };
struct link { struct link *next, *back; };
union both { word whole; unsigned char bytes[8]; };
struct box {
	struct link link;
	union both both;
	enum state state : 2;
	unsigned int count : 6;
	const char *name;
	int (*call)(struct box *, word);
	struct { short x, y; } place[3];
	struct link per_line __attribute__((aligned(64)));
	char tail[];
};
static __thread word seen;
struct box *first;

word walk(struct box *box, struct link *head)
{
	word sum = 0;

	for (struct link *at = head->next; at != head; at = at->next) {
		struct box *of = (struct box *)((char *)at - __builtin_offsetof(struct box, per_line));

		sum += of->both.whole + of->place[of->count % 3].y;
		of->state = ON;
	}
	seen += sum;
	return box->call ? box->call(box, sum) : first->both.bytes[sum % 8];
}
