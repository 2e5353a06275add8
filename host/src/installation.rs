//! The home's files that choose what runs: the configuration, and the folder of contributors.
//!
//! Nothing here runs or compiles anything. What is read is read safely: whoever could write to these files
//! could do as much as the host, and a path in them may lead to anything.

mod components;
mod configuration;
mod nearest;

pub use crate::file::{self, read_text};
pub use components::{installed, read_component, read_installed};
pub use configuration::{
    CacheSettings, Configuration, ContributorSettings, HooksSettings, SessionsSettings, SkillsSettings, ToolsSettings,
    read_grants,
};
pub use nearest::nearest;
