// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The first program of a recorded guest. It loads modules, starts a load, opens the window in which accesses
 * are recorded, and ends it when the load ends.
 *
 * /fieldline/modules lists files to load, a line each. /fieldline/load has the load, a word a line:
 *
 *   cgroup-tree KEY=VALUE…   messages and workers in the leaves of a tree of cgroups
 *   ping-pong KEY=VALUE…     pairs that wake each other through pipes and futexes
 *   fork-exec KEY=VALUE…     processes that fork, execute a program and exit
 *   run PROGRAM ARGUMENT…    any program
 *   boot PROGRAM             another init, which takes over
 *
 * The host sees where the window begins and ends by two system calls that nothing else makes: sethostname and
 * setdomainname.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORDS 64

static char *words[MAX_WORDS + 1];
static int word_count;

/* What fork-exec executes: this program, which then does nothing. */
#define TRUE_PROGRAM "/fieldline/init"

static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("fieldline-init: ");
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	fflush(stdout);
}

static void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void die(const char *what)
{
	say("%s: %s", what, strerror(errno));
	power_off();
}

static void begin_window(void)
{
	if (sethostname("fieldline", 9))
		die("sethostname");
}

static void end_window(void)
{
	if (setdomainname("fieldline", 9))
		die("setdomainname");
}

#include "loads.h"

static void pipes(long leaf)
{
	long rounds = number("work", 2000);
	uint64_t state = seed_of(leaf);
	int there[2], back[2];
	char byte = 0;
	if (pipe(there) || pipe(back))
		die("pipe");
	if (fork() == 0) {
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	for (;;) {
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			_exit(0);
		work(next_random(&state) % (rounds + 1));
	}
}

static void spin(long leaf)
{
	long rounds = number("work", 2000);
	uint64_t state = seed_of(leaf);

	for (;;) {
		work(rounds);
		if (next_random(&state) % 4 == 0)
			sched_yield();
	}
}

/* A tree of cgroups, each with a quota of CPU time. */

static long leaf_count;
static char procs[4096][96];

static void enable_cpu(const char *group)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", group);
	write_file(path, "+cpu");
}

static void make_group(const char *group)
{
	long period = number("period", 10000), quota = number("quota", 80);
	char path[160], value[64];

	if (mkdir(group, 0755) && errno != EEXIST)
		die(group);
	if (quota <= 0)
		return;
	snprintf(path, sizeof(path), "%s/cpu.max", group);
	snprintf(value, sizeof(value), "%ld %ld", period * quota / 100, period);
	write_file(path, value);
}

static void make_tree(const char *group, long depth, long width)
{
	char child[96];

	if (depth == 0) {
		if (leaf_count < 4096)
			snprintf(procs[leaf_count++], sizeof(procs[0]), "%s/cgroup.procs", group);
		return;
	}
	enable_cpu(group);
	for (long index = 0; index < width; index++) {
		if (snprintf(child, sizeof(child), "%s/g%ld", group, index) >= (int)sizeof(child) - 16) {
			errno = ENAMETOOLONG;
			die("depth");
		}
		make_group(child);
		make_tree(child, depth - 1, width);
	}
}

static void leaf(long index)
{
	write_file(procs[index], "0");
	switch (number("mix", 1) ? index % 3 : 0) {
	case 0:
		messages(index);
		break;
	case 1:
		pipes(index);
		break;
	default:
		spin(index);
	}
}

static void cgroup_tree(void)
{
	long depth = number("depth", 4), width = number("width", 3);

	if (mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL) && errno != EBUSY)
		die("mount of cgroup2");
	enable_cpu("/sys/fs/cgroup");
	if (mkdir("/sys/fs/cgroup/w", 0755))
		die("/sys/fs/cgroup/w");
	make_tree("/sys/fs/cgroup/w", depth, width);
	for (long index = 0; index < leaf_count; index++)
		start(leaf, index);
}

/* Pairs, half of them through pipes and half through futexes. */

static void ping_pong(void)
{
	for (long pair = 0; pair < number("pairs", 16); pair++)
		start(pair % 2 ? pipes : messages, pair);
}

static void fork_exec(void)
{
	for (long index = 0; index < number("processes", 16); index++)
		start(fork_and_exec, index);
}

static void run_program(char **arguments)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child == 0) {
		execv(arguments[0], arguments);
		say("%s: %s", arguments[0], strerror(errno));
		_exit(127);
	}
	for (int status; waitpid(child, &status, 0) != child;)
		;
}

/* Files with one entry a line. */

static int read_lines(const char *path, char **lines, int most)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	int count = 0;

	if (!file)
		return 0;
	while (count < most && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = 0;
		lines[count++] = strdup(line);
	}
	free(line);
	fclose(file);
	return count;
}

static void load_modules(void)
{
	char *modules[MAX_WORDS];
	int count = read_lines("/fieldline/modules", modules, MAX_WORDS);

	for (int index = 0; index < count; index++) {
		int file = open(modules[index], O_RDONLY | O_CLOEXEC);

		if (file < 0 || syscall(SYS_finit_module, file, "", 0))
			say("module %s: %s", modules[index], strerror(errno));
		if (file >= 0)
			close(file);
	}
}

static void make_places(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	mkdir("/tmp", 01777);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
}

int main(int argc, char **argv)
{
	(void)argc;
	/* What fork-exec executes. */
	if (!strcmp(argv[0], "fieldline-true"))
		return 0;
	make_places();
	word_count = read_lines("/fieldline/load", words, MAX_WORDS);
	if (!word_count)
		die("/fieldline/load is empty");
	load_modules();
	if (!strcmp(words[0], "run")) {
		begin_window();
		run_program(words + 1);
	} else if (!strcmp(words[0], "boot")) {
		begin_window();
		execv(words[1], words + 1);
		die(words[1]);
	} else {
		if (!strcmp(words[0], "cgroup-tree"))
			cgroup_tree();
		else if (!strcmp(words[0], "ping-pong"))
			ping_pong();
		else if (!strcmp(words[0], "fork-exec"))
			fork_exec();
		else
			die("no such load");
		/* What was just started settles. */
		sleep_microseconds(number("settle", 200000));
		begin_window();
		sleep_microseconds(number("time", 600000000));
	}
	end_window();
	power_off();
	return 0;
}
