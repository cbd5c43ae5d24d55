//! The plugin's observations, from the guest's start to the end of the window.

use crate::kernel::points::{COMM_BYTES, NAME_BYTES, OFFSETS_AT_ONCE, event};
use crate::kernel::wide::{WideAccess, WideInstructions};
use crate::objects::allocations::{Allocation, Allocations};
use crate::objects::typed::KernelPlace;
use crate::recording::perf_data::LoadedModule;
use crate::recording::sampler::{Sample, Sampler};
use crate::recording::trace::TraceWriter;
use crate::stream::{Access, Record};
use fieldline_cachemodel::ServedLevel;
use fieldline_debuginfo::LinkedAddress;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io;

/// All that was observed.
#[derive(Default)]
pub(crate) struct Observed {
    pub(crate) place: KernelPlace,
    pub(crate) allocations: Vec<Allocation>,
    /// The text by which the kernel names its build.
    pub(crate) banner: String,
    pub(crate) modules: Vec<LoadedModule>,
    /// Process, thread, name.
    pub(crate) tasks: Vec<(u32, u32, String)>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) accesses: [u64; 2],
    /// Whether all accesses that were asked for were recorded.
    pub(crate) is_limit: bool,
}

/// A task that runs on a CPU.
#[derive(Clone, Copy, Debug, Default)]
struct RunningTask {
    pid: u32,
    tid: u32,
}

/// Takes records in.
pub(crate) struct Window<'w> {
    cpus: usize,
    sampler: Sampler,
    trace: Option<TraceWriter<'w>>,
    /// Values of the register that tells CPUs apart, in the order in which they were met.
    registers: Vec<u64>,
    /// The guest's own number of each of these.
    numbers: FxHashMap<u8, Option<usize>>,
    /// The task on each of these.
    running: FxHashMap<u8, RunningTask>,
    tasks: BTreeMap<u32, (u32, String)>,
    allocations: Allocations,
    modules: Vec<LoadedModule>,
    banner: String,
    place: KernelPlace,
    /// Linked address of the kernel's text.
    text: u64,
    wide: WideInstructions,
    /// The last wide instruction of each CPU.
    last_wide: Vec<WideAccess>,
    time: u64,
    has_begun: bool,
    /// Whether the limit was reached, once it ended.
    end: Option<bool>,
}

impl<'w> Window<'w> {
    pub(crate) fn new(
        cpus: usize,
        (text, wide): (u64, WideInstructions),
        sampler: Sampler,
        trace: Option<TraceWriter<'w>>,
    ) -> Self {
        Self {
            cpus,
            text,
            wide,
            last_wide: vec![WideAccess::default(); cpus],
            sampler,
            trace,
            registers: Vec::new(),
            numbers: FxHashMap::default(),
            running: FxHashMap::default(),
            tasks: BTreeMap::new(),
            allocations: Allocations::default(),
            modules: Vec::new(),
            banner: String::new(),
            place: KernelPlace::default(),
            time: 0,
            has_begun: false,
            end: None,
        }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    pub(crate) fn add(&mut self, record: Record<'_>) -> io::Result<()> {
        match record {
            Record::Access(access) => return self.access(&access),
            // Blocks are counted when they begin, so times may stand still.
            Record::Time(time) => self.time = self.time.max(time),
            Record::Cpu(_, value) => self.registers.push(value),
            Record::Moved(distance) => self.place.moved = distance,
            Record::Begin => self.begin(),
            Record::End { is_limit } => self.end = Some(is_limit),
            Record::Event { cpu, id, words } => return self.event(cpu, id, words),
        }
        Ok(())
    }

    fn begin(&mut self) {
        self.has_begun = true;
        self.place.window = self.time;
        self.allocations.begin_window();
        self.numbers.clear();
    }

    /// The guest's own number of a CPU: the register holds the distance of its data.
    fn cpu_number(&mut self, cpu: u8) -> Option<usize> {
        let (registers, offsets) = (&self.registers, &self.place.cpu_offsets);
        *self.numbers.entry(cpu).or_insert_with(|| {
            let value = registers.get(usize::from(cpu))?;
            offsets.iter().position(|offset| offset == value)
        })
    }

    fn access(&mut self, access: &Access) -> io::Result<()> {
        // The register holds something else where the kernel is being entered.
        let Some(cpu) = self.cpu_number(access.cpu) else { return Ok(()) };
        self.time += 1;
        let time = self.time;
        let task = self.running.get(&access.cpu).copied().unwrap_or_default();
        let code = near(self.text.wrapping_add(self.place.moved), access.code);
        let last = self.last_wide.get_mut(cpu);
        let moved = self.place.moved;
        let is_further = last.is_some_and(|last| self.wide.is_further_part(access, moved, last));
        self.sampler.access(cpu, access, is_further, || Sample {
            cpu: cpu as u32,
            pid: task.pid,
            tid: task.tid,
            time,
            code,
            address: access.address,
            is_store: access.is_store,
            period: 0,
            level: ServedLevel::First,
        });
        match &mut self.trace {
            Some(trace) => trace.access(access, (cpu, task.tid), time),
            None => Ok(()),
        }
    }

    fn event(&mut self, cpu: u8, id: u32, words: &[u64]) -> io::Result<()> {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        let time = self.time;
        match id {
            event::SWITCH => return self.switch(cpu, words),
            event::ENTRY => self.allocations.enter(word(0), word(1), LinkedAddress(word(2))),
            event::RETURN | event::CPU_RETURN => {
                let (caller, is_per_cpu) = (LinkedAddress(word(2)), id == event::CPU_RETURN);
                self.allocations.give(word(0), word(1), caller, time, is_per_cpu);
            }
            event::FREE => self.allocations.free(word(0), time, false),
            event::CPU_FREE => self.allocations.free(word(0), time, true),
            event::MODULE => self.module(words),
            event::BANNER => self.banner = text_of(words),
            event::CPU_OFFSETS => {
                let first = word(0) as usize;
                for (cpu, offset) in (first..self.cpus.min(first + OFFSETS_AT_ONCE)).zip(words.iter().skip(1))
                {
                    self.place.cpu_offsets.resize(self.place.cpu_offsets.len().max(cpu + 1), 0);
                    self.place.cpu_offsets.get_mut(cpu).into_iter().for_each(|place| *place = *offset);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn switch(&mut self, cpu: u8, words: &[u64]) -> io::Result<()> {
        let [task, tid, pid, name @ ..] = words else { return Ok(()) };
        let (tid, pid) = (*tid as u32, *pid as u32);
        self.running.insert(cpu, RunningTask { pid, tid });
        let name = text_of(name.get(..COMM_BYTES / 8).unwrap_or(name));
        self.tasks.insert(tid, (pid, name));
        let number = self.cpu_number(cpu);
        match (&mut self.trace, number) {
            (Some(trace), Some(number)) if self.has_begun => trace.switch(*task, (number, tid)),
            _ => Ok(()),
        }
    }

    fn module(&mut self, words: &[u64]) {
        let (name, rest) = words.split_at(words.len().min(NAME_BYTES / 8));
        if let [text, text_size, ..] = *rest {
            self.modules.push(LoadedModule { name: text_of(name), text, text_size });
        }
    }

    pub(crate) fn finish(self) -> Observed {
        let tasks = self.tasks.into_iter().map(|(tid, (pid, name))| (pid, tid, name)).collect();
        Observed {
            place: self.place,
            allocations: self.allocations.finish(),
            banner: self.banner,
            modules: self.modules,
            tasks,
            samples: self.sampler.samples,
            accesses: self.sampler.accesses,
            is_limit: self.end == Some(true),
        }
    }
}

/// The address with this low half that is nearest to another: modules lie within 2 GiB of the kernel.
fn near(address: u64, low_half: u32) -> u64 {
    let distance = low_half.wrapping_sub(address as u32) as i32;
    address.wrapping_add_signed(i64::from(distance))
}

/// Words of memory as text, up to a zero.
fn text_of(words: &[u64]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_code_are_near_the_kernels_text() {
        assert_eq!(near(0xffff_ffff_8100_0000, 0x8112_3456), 0xffff_ffff_8112_3456);
        assert_eq!(near(0xffff_ffff_8100_0000, 0xc000_1000), 0xffff_ffff_c000_1000);
        assert_eq!(near(0xffff_8000_8001_0000, 0x7a00_1000), 0xffff_8000_7a00_1000);
        assert_eq!(near(0xffff_8001_0001_0000, 0xfa00_1000), 0xffff_8000_fa00_1000);
    }

    #[test]
    fn names_end_at_a_zero() {
        assert_eq!(text_of(&[u64::from_le_bytes(*b"kworker/"), 0x0031_3a30]), "kworker/0:1");
    }
}
