//! Names in kernels: symbols, members and files of Linux. All such names of fieldline stand here.

/// A function that is entered once, before anything is allocated (init/main.c).
pub(super) const ANCHOR: &str = "start_kernel";
/// The function that exchanges two tasks on a CPU; its arguments are the old and the new one
/// (arch/*/kernel/process*.c).
pub(super) const SWITCH: &str = "__switch_to";
/// Runs a module's initialisation once its text stands (kernel/module/main.c).
pub(super) const MODULE_INIT: &str = "do_init_module";
/// The distances of all CPUs' data (mm/percpu.c).
pub(super) const CPU_OFFSETS: &str = "__per_cpu_offset";

/// The text that a kernel prints first, which names its build (init/version.c).
pub(super) const BANNER: &str = "linux_banner";

/// The system calls by which the first program tells where the window begins and ends, by the prefixes of
/// architectures (arch/*/include/asm/syscall_wrapper.h).
pub(super) const BEGIN: &[&str] = &["__x64_sys_sethostname", "__arm64_sys_sethostname"];
pub(super) const END: &[&str] = &["__x64_sys_setdomainname", "__arm64_sys_setdomainname"];

/// The end that functions have where allocations are counted by call site (include/linux/alloc_tag.h).
pub(super) const UNHOOKED: &str = "_noprof";

/// Where an allocator's size comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SizeSource {
    /// The argument with this index.
    Argument(usize),
    /// The cache that is this argument.
    Cache(usize),
}

/// Functions that return memory (include/linux/slab.h of Linux 6.1 to 7.2).
pub(super) const ALLOCATORS: &[(&str, SizeSource)] = &[
    ("kmem_cache_alloc", SizeSource::Cache(0)),
    ("kmem_cache_alloc_lru", SizeSource::Cache(0)),
    ("kmem_cache_alloc_node", SizeSource::Cache(0)),
    ("__kmalloc", SizeSource::Argument(0)),
    ("__kmalloc_node", SizeSource::Argument(0)),
    ("__kmalloc_node_track_caller", SizeSource::Argument(0)),
    ("kmalloc_trace", SizeSource::Argument(2)),
    ("kmalloc_node_trace", SizeSource::Argument(3)),
    ("__kmalloc_cache", SizeSource::Argument(2)),
    ("__kmalloc_cache_node", SizeSource::Argument(3)),
    ("kmalloc_large", SizeSource::Argument(0)),
    ("kmalloc_large_node", SizeSource::Argument(0)),
    ("__kmalloc_large", SizeSource::Argument(0)),
    ("__kmalloc_large_node", SizeSource::Argument(0)),
    ("kvmalloc_node", SizeSource::Argument(0)),
    ("__kvmalloc_node", SizeSource::Argument(0)),
    ("kmemdup", SizeSource::Argument(1)),
];

/// Functions that return memory of which each CPU has its own (include/linux/percpu.h).
pub(super) const CPU_ALLOCATORS: &[(&str, SizeSource)] = &[
    ("pcpu_alloc", SizeSource::Argument(0)),
    ("__alloc_percpu", SizeSource::Argument(0)),
    ("__alloc_percpu_gfp", SizeSource::Argument(0)),
];

/// Functions that take memory back, and the argument that points to it.
pub(super) const FREES: &[(&str, usize)] = &[("kfree", 0), ("kmem_cache_free", 1)];
/// The same for many: the arguments that count them and point to them.
pub(super) const LIST_FREES: &[(&str, usize, usize)] = &[("kmem_cache_free_bulk", 1, 2)];
/// The same for memory of which each CPU has its own.
pub(super) const CPU_FREES: &[(&str, usize)] = &[("free_percpu", 0)];

/// Where CPUs wait for each other. With more CPUs in the guest than there are here, most accesses would be
/// theirs.
const WAITING: &[&str] = &[
    "queued_spin_lock_slowpath",
    "native_queued_spin_lock_slowpath",
    "__pv_queued_spin_lock_slowpath",
    "queued_read_lock_slowpath",
    "queued_write_lock_slowpath",
    "osq_lock",
    "mutex_spin_on_owner",
    "rwsem_spin_on_owner",
    "rwsem_optimistic_spin",
];

/// Whether a function waits for other CPUs.
pub(super) fn is_waiting(function: &str) -> bool {
    WAITING.contains(&function)
}

/// The code that is traced if nothing is named: the scheduler.
pub(super) const USUAL_UNITS: &str = "kernel/sched/";

/// Members of kernel structs, by struct.
pub(super) const TASK: &str = "task_struct";
pub(super) const CACHE: &str = "kmem_cache";
pub(super) const MODULE: &str = "module";
