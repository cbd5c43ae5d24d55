/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Loads that the first program of a guest and the program of `fieldline bench` have in common. Who includes this
 * defines words, word_count, die() and TRUE_PROGRAM, and may define the marks below, by which latencies are measured.
 */

/* A message was sent to the worker of a word, taken by it, and its work is done. */
#ifndef NOTE_SENT
#define NOTE_SENT(word)
#define NOTE_TAKEN(word)
#define NOTE_DONE(word)
#endif

/* A piece of work begins, and ends. */
#ifndef NOTE_BEGIN
#define NOTE_BEGIN() 0
#define NOTE_END(begin) (void)(begin)
#endif

/* The number of a KEY=VALUE among the load's words. */
static long number(const char *key, long usual)
{
	size_t length = strlen(key);

	for (int index = 1; index < word_count; index++)
		if (!strncmp(words[index], key, length) && words[index][length] == '=')
			return atol(words[index] + length + 1);
	return usual;
}

/* Marsaglia, Xorshift RNGs, 2003. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t seed_of(long number_of_process)
{
	uint64_t state = 0x9e3779b97f4a7c15 ^ ((uint64_t)number("seed", 1) << 32) ^ (uint64_t)(number_of_process + 1);

	for (int round = 0; round < 8; round++)
		next_random(&state);
	return state;
}

static void work(long rounds)
{
	for (volatile long round = 0; round < rounds; round++)
		;
}

static void sleep_microseconds(long microseconds)
{
	struct timespec time = { microseconds / 1000000, microseconds % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

static void write_file(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);

	if (file < 0 || write(file, text, strlen(text)) < 0)
		die(path);
	close(file);
}

static pid_t start(void (*body)(long), long argument)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child)
		return child;
	body(argument);
	_exit(0);
}

/* Wakers and sleepers on a word that processes share. */

static void futex_wait(uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void futex_wake(uint32_t *word, int count)
{
	syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

static uint32_t *shared_words(size_t count)
{
	void *place = mmap(NULL, count * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (place == MAP_FAILED)
		die("mmap");
	return place;
}

/* A message thread hands out work, workers wait for it: as schbench does. */

#define MAX_WORKERS 64

static void run_worker(uint32_t *word, long rounds, uint64_t state)
{
	for (;;) {
		uint32_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);

		if (seen == 0) {
			futex_wait(word, 0);
			continue;
		}
		NOTE_TAKEN(word);
		work(rounds / 2 + next_random(&state) % (rounds + 1));
		NOTE_DONE(word);
		__atomic_store_n(word, 0, __ATOMIC_RELEASE);
	}
}

static void messages(long leaf)
{
	long workers = number("workers", 2), rounds = number("work", 2000), pause_us = number("pause", 300);
	uint64_t state = seed_of(leaf);
	uint32_t *inbox;

	workers = workers < 1 ? 1 : workers > MAX_WORKERS ? MAX_WORKERS : workers;
	/* Words of their own cachelines. */
	inbox = shared_words(workers * 64);
	for (long worker = 0; worker < workers; worker++)
		if (fork() == 0)
			run_worker(&inbox[worker * 64], rounds, seed_of(leaf * MAX_WORKERS + worker + 1000));
	for (;;) {
		for (long worker = 0; worker < workers; worker++) {
			NOTE_SENT(&inbox[worker * 64]);
			__atomic_store_n(&inbox[worker * 64], 1, __ATOMIC_RELEASE);
			futex_wake(&inbox[worker * 64], 1);
		}
		work(next_random(&state) % (rounds + 1));
		sleep_microseconds(pause_us / 2 + next_random(&state) % (pause_us + 1));
	}
}

/* Forks, executes a program that does nothing, and waits for it. */

static void fork_and_exec(long index)
{
	uint64_t state = seed_of(index);
	long rounds = number("work", 2000);

	for (;;) {
		uint64_t begin = NOTE_BEGIN();
		pid_t child = fork();

		if (child == 0) {
			execl(TRUE_PROGRAM, "fieldline-true", NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
		NOTE_END(begin);
		work(next_random(&state) % (rounds + 1));
	}
}
