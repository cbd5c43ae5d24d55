// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin of QEMU (system emulation, plugin interface 4, QEMU 10.0 and newer) that writes memory accesses of
 * chosen code, and registers and memory at chosen instructions, to standard output.
 *
 * It knows nothing of any kernel: `plan=FILE` says where to look. Lines of that file:
 *
 *   anchor ADDRESS                linked address of a function that runs once and early; where it begins in
 *                                 the guest, a multiple of 2 MiB away, is how far the kernel was moved
 *   cpu REGISTER                  the register that differs between CPUs
 *   range BEGIN END               code whose accesses are written, by linked address
 *   range64 BEGIN END             the same by address in the guest
 *   point ADDRESS event ID EXPR…  what to write when the instruction at the linked address is about to run
 *   point ADDRESS list ID COUNT POINTER   the same for each word of an array
 *   point ADDRESS begin           from there on accesses are written
 *   point ADDRESS end             the recording ends
 *   module ID BASE SIZE           of an event with that ID: which of its words are begin and length of more code
 *   limit N                       accesses to write, then the recording ends
 *   shift N                       nanoseconds of an instruction, as a power of two
 *
 * EXPR is REGISTER[@OFFSET]…[/BYTES]: each @OFFSET reads memory at what was found so far plus OFFSET. =NUMBER stands
 * for a register with that number; where memory is read at it, for a linked address.
 *
 * Records are 16 bytes, in the machine's byte order: what `struct record` says. Events have their words behind
 * them, filled up to whole records.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

/* The part of QEMU's plugin interface that is used here. */

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;

struct plugin_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	int smp_vcpus;
	int max_vcpus;
};

/* GLib's growing arrays, which QEMU's interface passes. */
struct byte_array {
	uint8_t *data;
	unsigned int len;
};

struct array {
	char *data;
	unsigned int len;
};

struct register_description {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
};

enum register_use { NO_REGISTERS, READS_REGISTERS };
enum direction { LOADS = 1, STORES, LOADS_AND_STORES };

typedef void (*execute_callback)(unsigned int vcpu, void *data);
typedef void (*memory_callback)(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

struct byte_array *g_byte_array_new(void);
struct byte_array *g_byte_array_set_size(struct byte_array *array, unsigned int length);
char *g_array_free(struct array *array, int free_segment);

void qemu_plugin_register_vcpu_init_cb(plugin_id id, void (*callback)(plugin_id id, unsigned int vcpu));
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*callback)(plugin_id id, struct qemu_plugin_tb *block));
void qemu_plugin_register_atexit_cb(plugin_id id, void (*callback)(plugin_id id, void *data), void *data);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, execute_callback callback,
					  enum register_use use, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction, execute_callback callback,
					    enum register_use use, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction, memory_callback callback,
				      enum register_use use, enum direction direction, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);
struct array *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(struct qemu_plugin_register *handle, struct byte_array *buffer);
bool qemu_plugin_read_memory_vaddr(uint64_t address, struct byte_array *buffer, size_t length);

API int qemu_plugin_version = 4;

/* What is written. */

struct record {
	uint64_t address;	/* of data; time in ns; of an event its number of words */
	uint32_t code;		/* low half of the instruction's address; of an event its ID */
	uint8_t cpu;		/* in the order in which CPUs were met */
	uint8_t flags;		/* bit 7: store, bits 0 to 2: log2 of bytes; or one of the kinds */
	uint16_t unused;
};

enum {
	KIND_EVENT = 0x60,	/* words follow */
	KIND_CPU = 0x61,	/* a CPU was met: address is its register's value */
	KIND_MOVED = 0x62,	/* address is how far the kernel was moved */
	KIND_BEGIN = 0x63,	/* accesses follow */
	KIND_END = 0x64,	/* the last record; code is 1 if the limit was reached */
	KIND_TIME = 0x7f,
};

#define STORE 0x80
#define MAX_CPUS 255
#define MAX_VALUES 8
#define MAX_STEPS 4
#define MAX_LIST 65536
#define MAX_MODULES 512
#define RECORDS_BETWEEN_TIMES 256
#define ALIGNMENT_OF_KERNELS 0x200000

struct expression {
	int reg;		/* -1: a number */
	uint64_t number;
	int steps;
	int64_t offset[MAX_STEPS];
	unsigned int bytes;
};

enum action { EVENT, LIST, BEGIN, END };

struct point {
	uint64_t address;
	enum action action;
	uint32_t id;
	int values;
	struct expression value[MAX_VALUES];
};

struct range {
	uint64_t begin, end;
};

static struct range *ranges, modules[MAX_MODULES];
static struct point *points;
static size_t range_count, point_count, module_count;
static uint64_t anchor, limit = UINT64_MAX, moved;
static bool is_placed, is_open, is_parallel;
static unsigned int shift;
static int module_event = -1, module_base, module_size;

#define MAX_REGISTERS 32
static char *register_names[MAX_REGISTERS];
static struct qemu_plugin_register *register_handles[MAX_REGISTERS];
static int register_count, cpu_register;

static uint64_t instructions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int output = -1;
static uint8_t buffer[1 << 20];
static size_t filled;
static uint64_t accesses, records_since_time, cpu_values[MAX_CPUS];
static unsigned int cpu_count;
static int last_cpu = -1;

/* What a thread of QEMU knows of the CPU it runs. */
static __thread struct byte_array *scratch;
static __thread int current_cpu = -1;
static __thread uint64_t current_value;

static void fail(const char *what, const char *detail)
{
	fprintf(stderr, "fieldline-plugin: %s%s\n", what, detail);
	_exit(3);
}

static void flush(void)
{
	for (size_t done = 0; done < filled;) {
		ssize_t count = write(output, buffer + done, filled - done);

		if (count <= 0)
			_exit(4);
		done += count;
	}
	filled = 0;
}

static void put(const void *bytes, size_t length)
{
	if (filled + length > sizeof(buffer))
		flush();
	memcpy(buffer + filled, bytes, length);
	filled += length;
}

static void put_record(uint64_t address, uint32_t code, int cpu, uint8_t flags)
{
	struct record record = { address, code, cpu, flags, 0 };

	put(&record, sizeof(record));
}

static uint64_t now(void)
{
	struct timespec time;

	if (!is_parallel)
		return instructions << shift;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * UINT64_C(1000000000) + time.tv_nsec;
}

/* Times stand where the CPU changes, and every so often. */
static void put_time(int cpu)
{
	if (cpu == last_cpu && records_since_time++ < RECORDS_BETWEEN_TIMES)
		return;
	last_cpu = cpu;
	records_since_time = 0;
	put_record(now(), 0, cpu, KIND_TIME);
}

static void finish(uint32_t is_limit)
{
	put_record(accesses, is_limit, 0, KIND_END);
	flush();
	/* QEMU's own way out would run the guest on. */
	_exit(0);
}

static uint64_t read_register(int reg)
{
	uint64_t value = 0;

	if (!register_handles[reg])
		return 0;
	if (!scratch)
		scratch = g_byte_array_new();
	g_byte_array_set_size(scratch, 0);
	if (qemu_plugin_read_register(register_handles[reg], scratch) < 0)
		return 0;
	memcpy(&value, scratch->data, scratch->len < 8 ? scratch->len : 8);
	return value;
}

static bool read_memory(uint64_t address, void *bytes, size_t length)
{
	if (!scratch)
		scratch = g_byte_array_new();
	g_byte_array_set_size(scratch, 0);
	if (!qemu_plugin_read_memory_vaddr(address, scratch, length) || scratch->len < length)
		return false;
	memcpy(bytes, scratch->data, length);
	return true;
}

/* Writes the value of an expression to `words`; the number of words. */
static int evaluate(const struct expression *expression, uint64_t *words)
{
	uint64_t value = expression->reg >= 0 ? read_register(expression->reg) :
			 expression->number + (expression->steps ? moved : 0);
	int count = (expression->bytes + 7) / 8;

	memset(words, 0, count * 8);
	for (int step = 0; step < expression->steps; step++) {
		bool is_last = step + 1 == expression->steps;
		uint64_t address = value + expression->offset[step];

		if (!read_memory(address, is_last ? (void *)words : &value, is_last ? expression->bytes : 8))
			return count;
	}
	if (!expression->steps)
		words[0] = value;
	return count;
}

/* The CPU that runs. QEMU's own number is that of the CPU that translated a block. */
static void find_cpu(unsigned int vcpu, void *data)
{
	uint64_t value = read_register(cpu_register);

	(void)vcpu;
	(void)data;
	if (current_cpu >= 0 && value == current_value)
		return;
	pthread_mutex_lock(&lock);
	current_value = value;
	for (current_cpu = 0; current_cpu < (int)cpu_count; current_cpu++)
		if (cpu_values[current_cpu] == value)
			break;
	if (current_cpu == (int)cpu_count) {
		if (cpu_count == MAX_CPUS)
			fail("more than 255 values of the register that tells CPUs apart", "");
		cpu_values[cpu_count++] = value;
		put_record(value, 0, current_cpu, KIND_CPU);
	}
	pthread_mutex_unlock(&lock);
}

static void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *code)
{
	uint8_t flags = qemu_plugin_mem_size_shift(info) & 7;

	(void)vcpu;
	if (!is_open)
		return;
	if (qemu_plugin_mem_is_store(info))
		flags |= STORE;
	pthread_mutex_lock(&lock);
	put_time(current_cpu);
	put_record(address, (uint32_t)(uintptr_t)code, current_cpu, flags);
	if (++accesses >= limit)
		finish(1);
	pthread_mutex_unlock(&lock);
}

static void add_module(const uint64_t *words)
{
	if (module_count < MAX_MODULES && words[module_base]) {
		modules[module_count].begin = words[module_base];
		modules[module_count].end = words[module_base] + (uint32_t)words[module_size];
		module_count++;
	}
}

static void put_event(const struct point *point, const uint64_t *words, int count)
{
	static const uint64_t nothing;

	pthread_mutex_lock(&lock);
	put_time(current_cpu);
	put_record(count, point->id, current_cpu, KIND_EVENT);
	put(words, count * 8);
	if (count % 2)
		put(&nothing, 8);
	if ((int)point->id == module_event)
		add_module(words);
	pthread_mutex_unlock(&lock);
}

static void put_list(const struct point *point)
{
	uint64_t count, pointer, word;

	evaluate(&point->value[0], &count);
	evaluate(&point->value[1], &pointer);
	for (uint64_t index = 0; index < count && index < MAX_LIST; index++)
		if (read_memory(pointer + 8 * index, &word, 8))
			put_event(point, &word, 1);
}

static void on_point(unsigned int vcpu, void *data)
{
	const struct point *point = data;
	uint64_t words[MAX_VALUES * 8];
	int count = 0;

	find_cpu(vcpu, NULL);
	switch (point->action) {
	case EVENT:
		for (int index = 0; index < point->values; index++)
			count += evaluate(&point->value[index], words + count);
		put_event(point, words, count);
		break;
	case LIST:
		put_list(point);
		break;
	case BEGIN:
		pthread_mutex_lock(&lock);
		if (!is_open)
			put_record(now(), 0, current_cpu, KIND_BEGIN);
		is_open = true;
		pthread_mutex_unlock(&lock);
		break;
	case END:
		pthread_mutex_lock(&lock);
		if (is_open)
			finish(0);
		pthread_mutex_unlock(&lock);
		break;
	}
}

static bool is_in(const struct range *all, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (all[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && all[low].begin <= address;
}

static bool is_traced(uint64_t address)
{
	if (is_in(ranges, range_count, address - moved))
		return true;
	for (size_t index = 0; index < module_count; index++)
		if (address >= modules[index].begin && address < modules[index].end)
			return true;
	return false;
}

/* The first of the points at an address. */
static size_t find_point(uint64_t address)
{
	size_t low = 0, high = point_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (points[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether the kernel's place is known; it is once the anchor is about to be translated. */
static bool place(uint64_t address)
{
	uint64_t distance = address - anchor;

	if (is_placed || address >> 63 == 0 || distance % ALIGNMENT_OF_KERNELS != 0)
		return is_placed;
	pthread_mutex_lock(&lock);
	moved = distance;
	is_placed = true;
	put_record(moved, 0, 0, KIND_MOVED);
	pthread_mutex_unlock(&lock);
	return true;
}

/*
 * QEMU's inline counters would be faster, but in QEMU 10.0 they leave x86 guests with a wrong instruction pointer
 * after some breakpoint traps, of which Linux has many while it patches its code.
 */
static void count_instructions(unsigned int vcpu, void *count)
{
	(void)vcpu;
	instructions += (uintptr_t)count;
}

static void on_translate(plugin_id id, struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block);
	uint64_t start = qemu_plugin_tb_vaddr(block);
	bool has_cpu = false;

	(void)id;
	if (!is_parallel)
		qemu_plugin_register_vcpu_tb_exec_cb(block, count_instructions, NO_REGISTERS, (void *)(uintptr_t)count);
	if (!place(start) || start >> 63 == 0)
		return;
	for (size_t index = 0; index < count; index++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, index);
		uint64_t address = qemu_plugin_insn_vaddr(instruction);
		size_t point = find_point(address - moved);

		for (; point < point_count && points[point].address == address - moved; point++)
			qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_point, READS_REGISTERS, &points[point]);
		if (!is_traced(address))
			continue;
		if (!has_cpu)
			qemu_plugin_register_vcpu_tb_exec_cb(block, find_cpu, READS_REGISTERS, NULL);
		has_cpu = true;
		qemu_plugin_register_vcpu_mem_cb(instruction, on_access, NO_REGISTERS, LOADS_AND_STORES,
						 (void *)(uintptr_t)address);
	}
}

/* Registers have the same handles on all CPUs. */
static void on_cpu(plugin_id id, unsigned int vcpu)
{
	struct array *all;

	(void)id;
	if (vcpu != 0)
		return;
	all = qemu_plugin_get_registers();
	for (unsigned int index = 0; index < all->len; index++) {
		const struct register_description *found = (const struct register_description *)all->data + index;

		for (int reg = 0; reg < register_count; reg++)
			if (!register_handles[reg] && !strcmp(found->name, register_names[reg]))
				register_handles[reg] = found->handle;
	}
	g_array_free(all, 1);
	for (int reg = 0; reg < register_count; reg++)
		if (!register_handles[reg])
			fail("QEMU has no register ", register_names[reg]);
}

static void on_exit_of_qemu(plugin_id id, void *data)
{
	(void)id;
	(void)data;
	pthread_mutex_lock(&lock);
	finish(0);
}

/* The plan. */

static int register_index(const char *name)
{
	for (int reg = 0; reg < register_count; reg++)
		if (!strcmp(register_names[reg], name))
			return reg;
	if (register_count == MAX_REGISTERS)
		fail("too many registers: ", name);
	register_names[register_count] = strdup(name);
	return register_count++;
}

static void parse_expression(char *text, struct expression *expression)
{
	char *size = strchr(text, '/'), *step;

	expression->bytes = 8;
	if (size) {
		*size = 0;
		expression->bytes = strtoul(size + 1, NULL, 0);
	}
	if (expression->bytes == 0 || expression->bytes > 64)
		fail("bad number of bytes: ", text);
	for (step = strrchr(text, '@'); step; step = strrchr(text, '@')) {
		*step = 0;
		if (expression->steps == MAX_STEPS)
			fail("too many steps: ", text);
		expression->offset[expression->steps++] = (int64_t)strtoull(step + 1, NULL, 0);
	}
	/* They were found from the last to the first. */
	for (int index = 0; index < expression->steps / 2; index++) {
		int64_t other = expression->offset[index];

		expression->offset[index] = expression->offset[expression->steps - 1 - index];
		expression->offset[expression->steps - 1 - index] = other;
	}
	if (*text == '=') {
		expression->reg = -1;
		expression->number = strtoull(text + 1, NULL, 0);
	} else {
		expression->reg = register_index(text);
	}
}

static void *grown(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	array = realloc(array, (count ? 2 * count : 1) * size);
	if (!array)
		fail("no memory", "");
	return array;
}

static void parse_point(char *rest)
{
	struct point point = { .address = strtoull(strtok(rest, " "), NULL, 0) };
	const char *action = strtok(NULL, " ");
	char *word;

	if (!action)
		fail("a point without an action", "");
	point.action = !strcmp(action, "event") ? EVENT : !strcmp(action, "list") ? LIST :
		       !strcmp(action, "begin") ? BEGIN : END;
	if (point.action == EVENT || point.action == LIST) {
		word = strtok(NULL, " ");
		point.id = word ? strtoul(word, NULL, 0) : 0;
	}
	while ((word = strtok(NULL, " "))) {
		if (point.values == MAX_VALUES)
			fail("too many values: ", word);
		parse_expression(word, &point.value[point.values++]);
	}
	points = grown(points, point_count, sizeof(*points));
	points[point_count++] = point;
}

static void parse_line(char *line)
{
	char *rest = strchr(line, ' ');

	line[strcspn(line, "\n")] = 0;
	if (!rest)
		return;
	*rest++ = 0;
	if (!strcmp(line, "anchor")) {
		anchor = strtoull(rest, NULL, 0);
	} else if (!strcmp(line, "cpu")) {
		cpu_register = register_index(rest);
	} else if (!strcmp(line, "limit")) {
		limit = strtoull(rest, NULL, 0);
	} else if (!strcmp(line, "shift")) {
		shift = strtoul(rest, NULL, 0);
	} else if (!strcmp(line, "range")) {
		ranges = grown(ranges, range_count, sizeof(*ranges));
		ranges[range_count].begin = strtoull(rest, &rest, 0);
		ranges[range_count++].end = strtoull(rest, NULL, 0);
	} else if (!strcmp(line, "module")) {
		module_event = strtol(rest, &rest, 0);
		module_base = strtol(rest, &rest, 0);
		module_size = strtol(rest, NULL, 0);
	} else if (!strcmp(line, "point")) {
		parse_point(rest);
	} else {
		fail("unknown line: ", line);
	}
}

static int by_begin(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int by_address(const void *left, const void *right)
{
	const struct point *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static void read_plan(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		fail("can't open ", path);
	while (getline(&line, &size, file) > 0)
		parse_line(line);
	free(line);
	fclose(file);
	if (range_count)
		qsort(ranges, range_count, sizeof(*ranges), by_begin);
	if (point_count)
		qsort(points, point_count, sizeof(*points), by_address);
}

API int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int argc, char **argv)
{
	if (info->version.cur < qemu_plugin_version)
		fail("QEMU 10.0 or newer is needed", "");
	for (int index = 0; index < argc; index++) {
		if (!strncmp(argv[index], "plan=", 5))
			read_plan(argv[index] + 5);
		else if (!strcmp(argv[index], "parallel=on"))
			is_parallel = true;
	}
	/* Records go to standard output alone, whatever else QEMU prints. */
	output = dup(1);
	if (output < 0 || dup2(2, 1) < 0)
		fail("no standard output", "");
	qemu_plugin_register_vcpu_init_cb(id, on_cpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
