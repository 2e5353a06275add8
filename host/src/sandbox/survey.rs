//! A first look at a component's bytes, before anything is validated or compiled.
//!
//! Validation and compilation take time in the size of what a file *describes*, which can be far more
//! than its own size: a component that instantiates another twice, which instantiates another twice, …
//! doubles at every step. So instances are counted here first, with arithmetic that cannot overflow, and
//! what could not be counted is refused.

use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind, ComponentTypeRef, Encoding,
    Instance, Parser, Payload,
};

use super::limits::Limits;
use crate::error::{Code, Error, Result};
use crate::text::shown;

/// Component instances that one component may make in all, each of which costs compile time.
const MAX_COMPONENT_INSTANCES: u64 = 10_000;

/// Components and modules inside one another. Tools nest a handful; the engine takes fewer than this.
const MAX_NESTING: usize = 100;

/// The most imports, and exports, of one component. Tools make dozens; every one has a name to be kept.
const MAX_NAMES: usize = 10_000;

/// What a component's bytes say at first sight.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Survey {
    /// The names of what it imports, in order.
    pub(super) imports: Vec<String>,
    /// The names of what it exports, in order.
    pub(super) exports: Vec<Export>,
    /// Instances that it makes in all.
    instances: Count,
    /// The largest minimum of its memories, in bytes.
    largest_memory: u64,
    /// The largest minimum of its tables, in elements.
    largest_table: u64,
}

/// Something that a component exports.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Export {
    pub(super) name: String,
    pub(super) is_interface: bool,
}

/// Instances of one component, those of the components that it instantiates included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    core: u64,
    component: u64,
    /// It instantiates a component that it is given, so that nobody can tell from here.
    uncountable: bool,
}

impl Count {
    const UNKNOWN: Self = Self { core: 0, component: 0, uncountable: true };

    fn add(&mut self, other: Self) {
        self.core = self.core.saturating_add(other.core);
        self.component = self.component.saturating_add(other.component).saturating_add(1);
        self.uncountable |= other.uncountable;
    }
}

/// A component or module that is being read.
#[derive(Default)]
struct Frame {
    is_component: bool,
    /// What instantiating each component of its index space makes.
    components: Vec<Count>,
    instances: Count,
}

impl Survey {
    /// Surveys a component.
    ///
    /// # Errors
    /// `malformed` where the bytes cannot be read as a component's.
    pub(super) fn of(bytes: &[u8]) -> Result<Self> {
        let mut survey = Self::default();
        let mut frames: Vec<Frame> = Vec::new();
        for payload in Parser::new(0).parse_all(bytes) {
            survey.take(payload.map_err(malformed)?, &mut frames).map_err(malformed)?;
            if frames.len() > MAX_NESTING {
                return Err(too_many(MAX_NESTING, "components and modules inside one another"));
            }
            if survey.imports.len() > MAX_NAMES || survey.exports.len() > MAX_NAMES {
                return Err(too_many(MAX_NAMES, "imports or exports"));
            }
        }
        Ok(survey)
    }

    /// Refuses what would cost more than any call may use.
    ///
    /// # Errors
    /// `instance-limit`, `memory-limit`, `table-limit`.
    pub(super) fn check(&self) -> Result<()> {
        if self.instances.uncountable {
            return Err(Error::load(
                Code::InstanceLimit,
                "it instantiates a component that it imports or passes around, so that its instances cannot be counted: compose it of components that it contains",
            ));
        }
        let most = Limits::CEILING.instances;
        if self.instances.core > most as u64 || self.instances.component > MAX_COMPONENT_INSTANCES {
            return Err(Error::load(
                Code::InstanceLimit,
                format!(
                    "it makes {} core and {} component instances; no limit allows more than {most} and {MAX_COMPONENT_INSTANCES}",
                    self.instances.core, self.instances.component
                ),
            ));
        }
        // It has to declare before an operator's limits are known, so those cannot help.
        let Limits { memory, table_elements, .. } = Limits::DECLARE;
        let starts_with = |code, has: u64, what: &str, most: usize| {
            let message = format!(
                "it starts with {has} {what}; a component may start with {most} and grow to its limit: let it start with less"
            );
            Err(Error::load(code, message))
        };
        if self.largest_memory > memory as u64 {
            return starts_with(Code::MemoryLimit, self.largest_memory, "bytes of memory", memory);
        }
        if self.largest_table > table_elements as u64 {
            return starts_with(Code::TableLimit, self.largest_table, "table elements", table_elements);
        }
        Ok(())
    }

    fn take(&mut self, payload: Payload<'_>, frames: &mut Vec<Frame>) -> wasmparser::Result<()> {
        let depth = frames.len();
        match payload {
            Payload::Version { encoding, .. } => {
                frames.push(Frame { is_component: encoding == Encoding::Component, ..Frame::default() });
            }
            Payload::End(_) => {
                if let (Some(done), Some(parent)) = (frames.pop(), frames.last_mut())
                    && done.is_component
                {
                    parent.components.push(done.instances);
                }
            }
            Payload::ComponentImportSection(imports) => {
                for import in imports {
                    let import = import?;
                    if depth == 1 && self.imports.len() <= MAX_NAMES {
                        self.imports.push(import.name.name.to_owned());
                    }
                    if let (ComponentTypeRef::Component(_), Some(frame)) = (import.ty, frames.last_mut()) {
                        frame.components.push(Count::UNKNOWN);
                    }
                }
            }
            Payload::ComponentExportSection(exports) => {
                for export in exports {
                    let export = export?;
                    if depth == 1 && self.exports.len() <= MAX_NAMES {
                        let is_interface = export.kind == ComponentExternalKind::Instance;
                        self.exports.push(Export { name: export.name.name.to_owned(), is_interface });
                    }
                    if let (ComponentExternalKind::Component, Some(frame)) = (export.kind, frames.last_mut()) {
                        let same = frame.component(export.index);
                        frame.components.push(same);
                    }
                }
            }
            Payload::ComponentAliasSection(aliases) => {
                for alias in aliases {
                    if let Some(count) = aliased(&alias?, frames)
                        && let Some(frame) = frames.last_mut()
                    {
                        frame.components.push(count);
                    }
                }
            }
            Payload::InstanceSection(instances) => {
                for instance in instances {
                    if let (Instance::Instantiate { .. }, Some(frame)) = (instance?, frames.last_mut()) {
                        frame.instances.core = frame.instances.core.saturating_add(1);
                    }
                }
            }
            Payload::ComponentInstanceSection(instances) => {
                for instance in instances {
                    if let (ComponentInstance::Instantiate { component_index, .. }, Some(frame)) =
                        (instance?, frames.last_mut())
                    {
                        let count = frame.component(component_index);
                        frame.instances.add(count);
                    }
                }
            }
            Payload::MemorySection(memories) => {
                for memory in memories {
                    let memory = memory?;
                    let page = 1_u64.checked_shl(memory.page_size_log2.unwrap_or(16)).unwrap_or(u64::MAX);
                    self.largest_memory = self.largest_memory.max(memory.initial.saturating_mul(page));
                }
            }
            Payload::TableSection(tables) => {
                for table in tables {
                    self.largest_table = self.largest_table.max(table?.ty.initial);
                }
            }
            _ => {}
        }
        if let [root] = frames.as_slice() {
            self.instances = root.instances;
        }
        Ok(())
    }
}

impl Frame {
    fn component(&self, index: u32) -> Count {
        self.components.get(index as usize).copied().unwrap_or(Count::UNKNOWN)
    }
}

/// What an alias adds to the index space of components, if it is one of a component.
fn aliased(alias: &ComponentAlias<'_>, frames: &[Frame]) -> Option<Count> {
    match *alias {
        ComponentAlias::InstanceExport { kind: ComponentExternalKind::Component, .. } => Some(Count::UNKNOWN),
        ComponentAlias::Outer { kind: ComponentOuterAliasKind::Component, count, index } => {
            let outer = frames.len().checked_sub(1 + count as usize).and_then(|at| frames.get(at));
            Some(outer.map_or(Count::UNKNOWN, |frame| frame.component(index)))
        }
        _ => None,
    }
}

fn too_many(most: usize, what: &str) -> Error {
    Error::load(Code::Malformed, format!("it has more than {most} {what}: compose it of less"))
}

pub(super) fn malformed(error: wasmparser::BinaryReaderError) -> Error {
    Error::load(Code::Malformed, format!("it is not valid WebAssembly ({}): build it again", shown(&error.to_string())))
}
