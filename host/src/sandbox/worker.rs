//! Worker processes: where what can wait is called, and where strangers' code is compiled.
//!
//! A guest with imports can wait in the host's own functions: asleep, for an event that never comes, in a file
//! system that does not answer. A thread that waits there cannot be ended; a process can. So such a guest is
//! called in a worker, one call at a time, and a worker whose call is not over in time is killed and replaced.
//! The process is used again, an instance never. Compilers take time and memory by their input and have mistakes
//! of their own, so they run in a worker too, with a bound on both.
//!
//! A worker is this program, or one that an embedder names, started as `dsh-env worker`. It has no variables,
//! no working directory but `/`, no descriptor but the socket to its host, and where the kernel can, no rights:
//! Landlock leaves it only the directories that its calls are granted, seccomp the system calls that it needs.
//! It ends when its host does, however that ends.

mod channel;
mod confine;
mod pool;
mod process;
mod program;
mod protocol;
mod remote;
mod serve;

pub(super) use pool::Pool;
pub use program::{WORKER_ARGUMENT, WorkerProgram};
pub use protocol::{Confinement, Landlock};
pub(super) use remote::{Remote, compile};
pub use serve::serve;
