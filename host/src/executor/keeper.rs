//! Keepers: processes that start the commands of a host and end them when it is gone.
//!
//! A host that is killed with SIGKILL can end nothing any more, and a process whose parent has exited belongs to
//! nobody that remembers why it was started. A keeper is there for both. It is connected to its host by one socket,
//! which ends with the host, however that ends. It is the parent of all commands, and the kernel gives it
//! what they leave behind (`PR_SET_CHILD_SUBREAPER`), so that it can end that too.
//!
//! Three parts: [`serve`] is the keeper's own, [`remote`] the host's, and what both have in common is
//! [`protocol`] and [`channel`].

mod channel;
mod descendants;
mod everything;
mod link;
mod listen;
mod program;
mod protocol;
mod remote;
mod serve;

pub use program::{KEEPER_ARGUMENT, KeeperProgram};
pub(super) use remote::Remote;
pub use serve::serve as serve_keeper;
