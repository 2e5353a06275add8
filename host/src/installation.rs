//! TEMPORARY STUB
use crate::contract::*;
use crate::error::*;
use crate::home::Home;
use crate::registry::*;
use crate::sandbox::Limits;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
#[allow(missing_docs)]
#[derive(Default)]
pub struct Configuration {
    pub limits: Limits,
    pub values: ValueLimits,
    pub contributors: BTreeMap<ContributorName, ContributorSettings>,
    pub sessions: SessionsSettings,
}
#[allow(missing_docs)]
#[derive(Default)]
pub struct ContributorSettings {
    pub enabled: bool,
    pub required: bool,
    pub keys: BTreeMap<Key, KeyTerms>,
}
#[allow(missing_docs)]
#[derive(Default)]
pub struct SessionsSettings {
    pub root: Option<String>,
    pub backend: crate::sessions::Backend,
    pub compression: crate::sessions::Compression,
}
#[allow(missing_docs)]
impl Configuration {
    pub fn read(_: &Home) -> Result<Self> {
        Ok(Self::default())
    }
    pub fn of_contributor(&self, _: &str) -> (Limits, Terms) {
        Default::default()
    }
    pub fn place_of(&self, _: &ContributorSettings) -> String {
        String::new()
    }
    pub fn all_limits(&self) -> Vec<Limits> {
        vec![]
    }
}
#[allow(missing_docs)]
pub fn installed(_: &Home) -> Result<Vec<PathBuf>> {
    Ok(vec![])
}
#[allow(missing_docs)]
pub fn read_component(p: &Path) -> Result<Vec<u8>> {
    std::fs::read(p).map_err(|e| Error::load(Code::Unreadable, e.to_string()))
}
#[allow(missing_docs)]
pub fn read_installed(p: &Path) -> Result<Vec<u8>> {
    read_component(p)
}
#[allow(missing_docs)]
pub fn read_text(p: &Path, _: usize) -> Result<String> {
    std::fs::read_to_string(p).map_err(|e| Error::load(Code::Unreadable, e.to_string()))
}
#[allow(missing_docs)]
pub fn nearest<'a>(_: &str, _: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    None
}
