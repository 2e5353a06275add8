//! The contract with contributors as Rust types: what `wit/contributor.wit` says, once.
//!
//! A [`Key`] or [`ContributorName`] that exists is valid. A [`Declaration`] is what a contributor
//! *says*; a [`Declared`] is one that was checked. Nothing here knows of WebAssembly: the sandbox
//! translates at its edge, and native contributors use these types as they are.

mod cancellation;
mod contributor;
mod declaration;
mod execution;
mod facts;
mod key;
mod moment;
mod name;

pub use cancellation::Cancellation;
pub use contributor::{Contributor, Deadline, Failure};
#[cfg(feature = "serve")]
pub(crate) use declaration::check_description;
pub use declaration::{Binding, Claims, Declaration, Declared, DeclaredVariable, NoClaims, Variable};
pub use execution::{Agent, Execution, SessionHeader, SessionId};
pub use facts::Facts;
pub use key::{Key, PREFIX, is_managed_name};
pub(crate) use moment::Moment;
pub use name::{ContributorName, HOST};

/// The contract's version, as in the names that a component exports.
pub const CONTRACT_VERSION: &str = "1.0.0";

/// The most variables that one contributor may declare.
pub const MAX_VARIABLES: usize = 128;
