// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The load of `fieldline bench`: a process in each leaf of a tree of cgroups, with latencies.
 *
 *   bench messages KEY=VALUE…    a message thread hands out work, workers wait for it
 *   bench hackbench KEY=VALUE…   senders and receivers at sockets
 *   bench pipe-ring KEY=VALUE…   processes that hand a token on
 *   bench fork-exec KEY=VALUE…   processes that fork, execute a program and exit
 *   bench run PROGRAM…           any program, again and again
 *
 * Standard input has the file by which all groups are killed, the cgroup.procs of each leaf, an empty line, then the
 * words `begin` and `end`. Standard output answers `ready` when all processes are in their groups, and at the end
 * lines `latency NAME FROM TO COUNT` (nanoseconds), then `done RUNS-THAT-FAILED`. When standard input ends, all groups
 * are killed: so nothing stays running however fieldline ends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char **words;
static int word_count;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(1);
}

/* Histograms of latencies: 32 buckets for each power of two. */

#define SUB_BITS 5
#define SUBS (1 << SUB_BITS)
#define BUCKETS (36 * SUBS)
#define KINDS 2
#define PROCESSES_PER_LEAF 80

struct histogram {
	uint32_t counts[KINDS][BUCKETS];
};

struct shared {
	uint32_t joined;
	uint32_t is_open;
	uint32_t used;
	uint32_t failed;
};

static struct shared *shared;
static struct histogram *histograms;
static uint32_t histogram_count;
/* This process' own. */
static struct histogram *own;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static int bucket_of(uint64_t value)
{
	int exponent, bucket;

	if (value < SUBS)
		return value;
	exponent = 63 - __builtin_clzll(value);
	bucket = (exponent - SUB_BITS + 1) * SUBS + ((value >> (exponent - SUB_BITS)) & (SUBS - 1));
	return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static uint64_t bucket_begin(int bucket)
{
	int shift = bucket / SUBS - 1;

	return shift <= 0 ? (uint64_t)bucket : (uint64_t)(SUBS + bucket % SUBS) << shift;
}

static void forget_own(void)
{
	own = NULL;
}

static void record(int kind, uint64_t nanoseconds)
{
	if (!__atomic_load_n(&shared->is_open, __ATOMIC_RELAXED))
		return;
	if (!own) {
		uint32_t index = __atomic_fetch_add(&shared->used, 1, __ATOMIC_RELAXED);

		/* Programs that are forked again and again share the last one. */
		own = &histograms[index < histogram_count ? index : histogram_count - 1];
	}
	own->counts[kind][bucket_of(nanoseconds)]++;
}

/* Times of a message lie behind its word. */
#define SENT_AT(word) (*(uint64_t *)((word) + 2))
#define TAKEN_AT(word) (*(uint64_t *)((word) + 4))

static void note_sent(uint32_t *word)
{
	/* A worker that is still busy keeps the time of the message that it works at. */
	if (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		SENT_AT(word) = now();
}

static void note_taken(uint32_t *word)
{
	TAKEN_AT(word) = now();
	record(0, TAKEN_AT(word) - SENT_AT(word));
}

static void note_done(uint32_t *word)
{
	record(1, now() - TAKEN_AT(word));
}

#define NOTE_SENT(word) note_sent(word)
#define NOTE_TAKEN(word) note_taken(word)
#define NOTE_DONE(word) note_done(word)
#define NOTE_BEGIN() now()
#define NOTE_END(begin) record(0, now() - (begin))
#define TRUE_PROGRAM "/proc/self/exe"

#include "loads.h"

/* Senders write messages to all receivers of their leaf: as hackbench does. */

#define MESSAGE_BYTES 100
#define MAX_TASKS 20

static void read_whole(int file, void *to, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t count = read(file, (char *)to + done, bytes - done);

		if (count <= 0)
			_exit(0);
		done += count;
	}
}

static void write_whole(int file, const void *from, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t count = write(file, (const char *)from + done, bytes - done);

		if (count <= 0)
			_exit(0);
		done += count;
	}
}

static void receive(int file)
{
	char message[MESSAGE_BYTES];
	uint64_t sent;

	for (;;) {
		read_whole(file, message, sizeof(message));
		memcpy(&sent, message, sizeof(sent));
		record(0, now() - sent);
	}
}

static void send_to_all(int (*sockets)[2], long tasks)
{
	char message[MESSAGE_BYTES] = { 0 };

	for (;;) {
		uint64_t begin = now();

		for (long to = 0; to < tasks; to++) {
			uint64_t sent = now();

			memcpy(message, &sent, sizeof(sent));
			write_whole(sockets[to][0], message, sizeof(message));
		}
		record(1, now() - begin);
	}
}

static long task_count(long usual)
{
	long tasks = number("tasks", usual);

	return tasks < 1 ? 1 : tasks > MAX_TASKS ? MAX_TASKS : tasks;
}

static pid_t fork_or_die(void)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	return child;
}

static void hackbench(long leaf)
{
	long tasks = task_count(4);
	int sockets[MAX_TASKS][2];

	(void)leaf;
	for (long task = 0; task < tasks; task++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[task]))
			die("socketpair");
	for (long task = 0; task < tasks; task++) {
		if (fork_or_die() == 0)
			receive(sockets[task][1]);
		if (fork_or_die() == 0)
			send_to_all(sockets, tasks);
	}
	for (;;)
		pause();
}

/* Processes in a ring, each with a pipe from the one before; a token goes round. */

static void hand_on(int from, int to, long rounds, uint64_t state)
{
	uint64_t sent;

	for (;;) {
		read_whole(from, &sent, sizeof(sent));
		record(0, now() - sent);
		work(next_random(&state) % (rounds + 1));
		sent = now();
		write_whole(to, &sent, sizeof(sent));
	}
}

static void pipe_ring(long leaf)
{
	long tasks = task_count(8), rounds = number("work", 2000);
	int pipes_of[MAX_TASKS][2];
	uint64_t sent;

	for (long task = 0; task < tasks; task++)
		if (pipe(pipes_of[task]))
			die("pipe");
	for (long task = 0; task < tasks; task++)
		if (fork_or_die() == 0)
			hand_on(pipes_of[task][0], pipes_of[(task + 1) % tasks][1], rounds,
				seed_of(leaf * MAX_TASKS + task));
	sent = now();
	write_whole(pipes_of[0][1], &sent, sizeof(sent));
	for (;;)
		pause();
}

/* The program behind `--`, again and again. Its output is dropped. */

static void run_again(long leaf)
{
	(void)leaf;
	for (;;) {
		uint64_t begin = now();
		pid_t child = fork_or_die();
		int status = 0;

		if (child == 0) {
			int null = open("/dev/null", O_RDWR);

			if (null >= 0) {
				dup2(null, 0);
				dup2(null, 1);
				dup2(null, 2);
			}
			execvp(words[1], words + 1);
			_exit(127);
		}
		waitpid(child, &status, 0);
		record(0, now() - begin);
		if (status && __atomic_load_n(&shared->is_open, __ATOMIC_RELAXED))
			__atomic_fetch_add(&shared->failed, 1, __ATOMIC_RELAXED);
	}
}

struct load {
	const char *name;
	void (*run)(long leaf);
	/* Names of its latencies. */
	const char *kinds[KINDS];
};

static const struct load loads[] = {
	{ "messages", messages, { "wakeup", "request" } },
	{ "hackbench", hackbench, { "message", "round" } },
	{ "pipe-ring", pipe_ring, { "hop", NULL } },
	{ "fork-exec", fork_and_exec, { "spawn", NULL } },
	{ "run", run_again, { "run", NULL } },
};

static const struct load *find_load(const char *name)
{
	for (size_t index = 0; index < sizeof(loads) / sizeof(loads[0]); index++)
		if (!strcmp(loads[index].name, name))
			return &loads[index];
	errno = EINVAL;
	die(name);
	return NULL;
}

static const struct load *load;
static char **procs;
static long leaf_count;

static void run_leaf(long index)
{
	/* Commands and answers are those of the first process only. */
	close(0);
	close(1);
	open("/dev/null", O_RDONLY);
	open("/dev/null", O_WRONLY);
	write_file(procs[index], "0");
	__atomic_fetch_add(&shared->joined, 1, __ATOMIC_RELAXED);
	load->run(index);
}

/* A line without its end; NULL at the end of the input. */
static char *next_line(void)
{
	static char line[4096];

	if (!fgets(line, sizeof(line), stdin))
		return NULL;
	line[strcspn(line, "\n")] = 0;
	return line;
}

static char *kill_path;

static void kill_groups(void)
{
	int file = open(kill_path, O_WRONLY);

	/* Kernels before 5.14 have no such file: fieldline kills by process then. */
	if (file >= 0 && write(file, "1", 1) < 0)
		_exit(1);
	_exit(0);
}

static void reserve(void)
{
	size_t bytes;

	histogram_count = (leaf_count + 1) * PROCESSES_PER_LEAF;
	bytes = sizeof(*shared) + 4096 + histogram_count * sizeof(struct histogram);
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	histograms = (struct histogram *)((char *)shared + 4096);
	if (pthread_atfork(NULL, NULL, forget_own))
		die("pthread_atfork");
}

/* Many processes at sockets and pipes need more than the usual number of files. */
static void raise_limits(void)
{
	struct rlimit limit;

	for (int index = 0; index < 2; index++) {
		int resource = index ? RLIMIT_NPROC : RLIMIT_NOFILE;

		if (!getrlimit(resource, &limit)) {
			limit.rlim_cur = limit.rlim_max;
			setrlimit(resource, &limit);
		}
	}
}

/* Whether nobody is left to give commands. */
static int input_ended(void)
{
	struct pollfd input = { .fd = 0 };

	return poll(&input, 1, 0) > 0 && input.revents & (POLLHUP | POLLERR);
}

static void wait_until_joined(void)
{
	while (__atomic_load_n(&shared->joined, __ATOMIC_RELAXED) < (uint32_t)leaf_count) {
		int status;

		if (waitpid(-1, &status, WNOHANG) > 0) {
			errno = ECHILD;
			die("a leaf's load ended at once");
		}
		if (input_ended())
			kill_groups();
		sleep_microseconds(1000);
	}
}

static void print_latencies(void)
{
	uint32_t used = shared->used < histogram_count ? shared->used : histogram_count;

	for (int kind = 0; kind < KINDS && load->kinds[kind]; kind++)
		for (int bucket = 0; bucket < BUCKETS; bucket++) {
			uint64_t count = 0;

			for (uint32_t index = 0; index < used; index++)
				count += histograms[index].counts[kind][bucket];
			if (count)
				printf("latency %s %llu %llu %llu\n", load->kinds[kind],
				       (unsigned long long)bucket_begin(bucket),
				       (unsigned long long)bucket_begin(bucket + 1), (unsigned long long)count);
		}
}

static void start_leaves(void)
{
	for (long index = 0; index < leaf_count && !input_ended(); index++)
		start(run_leaf, index);
	wait_until_joined();
}

static void read_leaves(void)
{
	char *line;

	while ((line = next_line()) && *line) {
		procs = realloc(procs, (leaf_count + 1) * sizeof(*procs));
		if (!procs || !(procs[leaf_count] = strdup(line)))
			die("memory");
		leaf_count++;
	}
}

static void end_window(void)
{
	int status;

	__atomic_store_n(&shared->is_open, 0, __ATOMIC_SEQ_CST);
	errno = ECHILD;
	if (waitpid(-1, &status, WNOHANG) > 0)
		die("a leaf's load ended early");
	print_latencies();
	printf("done %u\n", shared->failed);
}

int main(int argc, char **argv)
{
	char *line;

	/* What fork-exec executes. */
	if (argc < 1 || !strcmp(argv[0], "fieldline-true"))
		return 0;
	words = argv + 1;
	word_count = argc - 1;
	errno = EINVAL;
	if (word_count < 1 || !(line = next_line()) || !(kill_path = strdup(line)))
		die("bench LOAD WORDS");
	load = find_load(words[0]);
	read_leaves();
	raise_limits();
	reserve();
	start_leaves();
	printf("ready\n");
	fflush(stdout);
	while ((line = next_line())) {
		if (!strcmp(line, "begin"))
			__atomic_store_n(&shared->is_open, 1, __ATOMIC_SEQ_CST);
		else if (!strcmp(line, "end"))
			end_window();
		fflush(stdout);
	}
	kill_groups();
	return 0;
}
