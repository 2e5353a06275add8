//! Where the memory of instances comes from.

use wasmtime::{Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

use super::limits::Limits;

/// Where the memory of instances comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Allocation {
    /// Mapped for each call: the engine is made in a fraction of a millisecond. For a command that makes
    /// a few calls and ends.
    #[default]
    OnDemand,
    /// Kept in slots that are wiped between calls: the engine takes milliseconds to make, calls take half
    /// the time. For a host that goes on.
    Pooled,
}

/// Bytes at the start of a slot's memory that are wiped rather than given back to the kernel. A small
/// guest's memory is smaller, so that it causes no page fault after the first calls; a thousand slots
/// that were all used this far would keep 2 GiB.
const KEEP_RESIDENT: usize = 2 * 1024 * 1024;

/// Instances, memories and tables that the pool holds at once.
const SLOTS: u32 = 1_000;

/// Memories, and tables, that one module may have; ordinary ones have one. A call's own limits are lower.
const PER_MODULE: u32 = 64;

/// Slots that stay warm while they are unused: more than the calls that are under way at once.
const WARM_SLOTS: u32 = 100;

impl Allocation {
    /// The strategy in wasmtime's terms, for calls that stay below `ceiling`.
    pub(super) fn strategy(self, ceiling: &Limits) -> InstanceAllocationStrategy {
        match self {
            Self::OnDemand => InstanceAllocationStrategy::OnDemand,
            Self::Pooled => InstanceAllocationStrategy::Pooling(pool(ceiling)),
        }
    }
}

fn pool(ceiling: &Limits) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::default();
    pool.total_component_instances(SLOTS)
        .total_core_instances(SLOTS)
        .total_memories(SLOTS)
        .total_tables(SLOTS)
        .max_memories_per_module(PER_MODULE)
        .max_tables_per_module(PER_MODULE)
        .max_unused_warm_slots(WARM_SLOTS)
        .max_memory_size(ceiling.memory)
        .table_elements(ceiling.table_elements)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_RESIDENT)
        // Wipes only pages that were touched, where the kernel can tell (Linux 6.7); elsewhere the start
        // of every memory is written again.
        .pagemap_scan(Enabled::Auto);
    pool
}
