/*
 * A plugin of qemu's user-space emulation that records every access of the program to memory, and every branch taken.
 *
 * The file begins with two words of 8 bytes: the loaded address of the program's code, and 0. Then each access has four:
 * address of the instruction, address of the data, bytes, and twice the CPU plus 1 for a store. Parts of an access by one
 * instruction that follow each other count as one access, as in a processor. A branch has its address, its target, 0, and
 * twice the CPU.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The part of the plugin interface that is used (include/qemu/qemu-plugin.h of qemu). */
#define EXPORT __attribute__((visibility("default")))
struct qemu_plugin_tb;
struct qemu_plugin_insn;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*on_translation)(uint64_t, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(uint64_t id, void (*on_end)(uint64_t, void *), void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
				      void (*on_access)(unsigned, uint32_t, uint64_t, void *), int flags, int rw,
				      void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
					    void (*on_instruction)(unsigned, void *), int flags, void *data);
unsigned qemu_plugin_mem_size_shift(uint32_t access);
bool qemu_plugin_mem_is_store(uint32_t access);
uint64_t qemu_plugin_start_code(void);

EXPORT int qemu_plugin_version = PLUGIN_VERSION;

enum { NO_REGISTERS = 0, READS_AND_WRITES = 3, CPUS = 64 };

struct access {
	uint64_t ip, address, size, cpu_and_store;
};

static FILE *file;
static struct access last[CPUS];
/* The instruction that ran last; 0 before the first. */
static uint64_t previous[CPUS];

static void write_access(struct access *access)
{
	if (access->size)
		fwrite(access, sizeof(*access), 1, file);
	access->size = 0;
}

static void on_access(unsigned cpu, uint32_t info, uint64_t address, void *at)
{
	struct access next = {
		.ip = (uint64_t)(uintptr_t)at,
		.address = address,
		.size = 1ull << qemu_plugin_mem_size_shift(info),
		.cpu_and_store = 2ull * cpu + qemu_plugin_mem_is_store(info),
	};
	struct access *pending;

	if (cpu >= CPUS)
		return;
	pending = &last[cpu];
	if (pending->size && pending->ip == next.ip && pending->cpu_and_store == next.cpu_and_store &&
	    pending->address + pending->size == next.address && pending->size + next.size <= 16) {
		pending->size += next.size;
		return;
	}
	write_access(pending);
	*pending = next;
}

/* All instructions of AArch64 have 4 bytes. */
static void on_instruction(unsigned cpu, void *at)
{
	uint64_t now = (uint64_t)(uintptr_t)at;

	if (cpu >= CPUS)
		return;
	write_access(&last[cpu]);
	if (previous[cpu] && previous[cpu] + 4 != now) {
		struct access branch = { .ip = previous[cpu], .address = now, .size = 0, .cpu_and_store = 2ull * cpu };

		fwrite(&branch, sizeof(branch), 1, file);
	}
	previous[cpu] = now;
}

static void on_translation(uint64_t id, struct qemu_plugin_tb *block)
{
	size_t index, count = qemu_plugin_tb_n_insns(block);

	(void)id;
	for (index = 0; index < count; index++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, index);
		void *at = (void *)(uintptr_t)qemu_plugin_insn_vaddr(instruction);

		qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instruction, NO_REGISTERS, at);
		qemu_plugin_register_vcpu_mem_cb(instruction, on_access, NO_REGISTERS, READS_AND_WRITES, at);
	}
}

static void on_end(uint64_t id, void *data)
{
	uint64_t header[2] = { qemu_plugin_start_code(), 0 };
	unsigned cpu;

	(void)id;
	(void)data;
	for (cpu = 0; cpu < CPUS; cpu++)
		write_access(&last[cpu]);
	rewind(file);
	fwrite(header, sizeof(header), 1, file);
	fclose(file);
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	uint64_t header[2] = { 0, 0 };

	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return 1;
	file = fopen(argv[0] + 4, "wb");
	if (!file)
		return 1;
	fwrite(header, sizeof(header), 1, file);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
