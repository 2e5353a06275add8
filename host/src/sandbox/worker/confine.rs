//! What a worker gives up before it looks at anything of a stranger's.
//!
//! Each of these is the process's own wish and cannot be undone. A kernel that lacks one is no error: the
//! sandbox of the engine holds by itself, and these hold where it should turn out to have a hole. The worker
//! tells its host what is in force.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getpriority_process, getrlimit, set_dumpable_behavior, setpriority_process,
    setrlimit,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use super::protocol::{Confinement, Landlock, Role};

/// The most descriptors of a worker: a guest that opens files without end runs into it and not into the
/// machine's own limit.
const MAX_DESCRIPTORS: u64 = 256;

/// The most bytes of a file that a worker writes: the compiled code of a component, in memory.
const MAX_FILE_BYTES: u64 = 1024 * 1024 * 1024;

/// How much a compiler stands back for others: whoever calls a contributor goes before, and a third of a busy
/// processor is left for what has to be done in time.
const COMPILER_NICENESS: i32 = 5;

/// The newest version of Landlock whose rights are taken away, where the kernel has it: with the network
/// (4), devices (5), and signals and abstract sockets (6).
const LANDLOCK: ABI = ABI::V6;

/// Gives up everything but the directories, once and for all. Before there is a second thread: the
/// others would keep their rights.
///
/// # Errors
/// What could not be given up although the kernel can, in words.
pub(super) fn confine(role: Role, directories: &[OwnedFd], data_bytes: u64) -> Result<Confinement, String> {
    let words = |what: &'static str| move |error: rustix::io::Errno| format!("{what} could not be limited: {error}");
    let limit = |resource, most: u64| {
        // A lower one that was inherited cannot be raised, and need not be.
        let most = getrlimit(resource).maximum.map_or(most, |inherited| inherited.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    };
    limit(Resource::Core, 0).map_err(words("core dumps"))?;
    limit(Resource::Data, data_bytes).map_err(words("memory"))?;
    limit(Resource::Fsize, MAX_FILE_BYTES).map_err(words("files"))?;
    limit(Resource::Nofile, MAX_DESCRIPTORS).map_err(words("descriptors"))?;
    // Settings and values may be secrets, and pass through here.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(words("core dumps"))?;
    if role == Role::Compiler && getpriority_process(None).is_ok_and(|now| now < COMPILER_NICENESS) {
        // For the comfort of others: never a reason not to work.
        let _ = setpriority_process(None, COMPILER_NICENESS);
    }
    let landlock = landlock(directories).map_err(|error| format!("Landlock refused: {error}"))?;
    let seccomp = seccomp(landlock).map_err(|error| format!("seccomp refused: {error}"))?;
    Ok(Confinement { landlock, seccomp })
}

/// Closes whatever a careless host left open. As the very first thing, when nothing but the standard streams
/// is this program's own.
pub(super) fn close_inherited() {
    #[expect(unsafe_code, reason = "the standard library closes what it opened and nothing else")]
    // SAFETY: nothing of this process owns a descriptor above the standard streams yet, so none is
    // closed under its owner. The call takes numbers alone.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
    if closed != 0 {
        // Before Linux 5.9. A descriptor that was inherited is of no use under the other limits either.
        tracing::debug!("inherited descriptors were not closed");
    }
}

fn landlock(directories: &[OwnedFd]) -> Result<Landlock, landlock::RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK))?
        .handle_access(AccessNet::from_all(LANDLOCK))?
        .scope(Scope::from_all(LANDLOCK))?
        .create()?;
    for directory in directories {
        ruleset = ruleset.add_rule(PathBeneath::new(directory.as_fd(), AccessFs::ReadFile | AccessFs::ReadDir))?;
    }
    let status = ruleset.restrict_self()?;
    Ok(match status.ruleset {
        RulesetStatus::FullyEnforced => Landlock::Full,
        RulesetStatus::PartiallyEnforced => Landlock::Partial,
        RulesetStatus::NotEnforced => Landlock::None,
    })
}

/// Lets the kernel refuse every system call that neither the engine nor the runtime below it needs.
fn seccomp(landlock: Landlock) -> Result<bool, String> {
    let Ok(target) = TargetArch::try_from(std::env::consts::ARCH) else { return Ok(false) };
    let words = |error: seccompiler::BackendError| error.to_string();
    // Threads are made by either of two calls. What the newer one is asked for cannot be looked at, so it is
    // said not to exist, and the older is used.
    let mut newer = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    if landlock == Landlock::None {
        // Nothing would keep it from writing; what is asked of the older call can be looked at.
        newer.insert(libc::SYS_openat2, Vec::new());
    }
    let absent = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let absent = SeccompFilter::new(newer, SeccompAction::Allow, absent, target).map_err(words)?;
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let needed = SeccompFilter::new(needed().map_err(words)?, refused, SeccompAction::Allow, target).map_err(words)?;
    for filter in [absent, needed] {
        let program = BpfProgram::try_from(filter).map_err(words)?;
        match apply_filter(&program) {
            Ok(()) => {}
            // A kernel without it, or a container that does not allow it.
            Err(seccompiler::Error::Seccomp(error))
                if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS | libc::EPERM | libc::EACCES)) =>
            {
                return Ok(false);
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(true)
}

/// The system calls that are needed, and with which arguments.
fn needed() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let masked = |argument, mask: libc::c_int, value: libc::c_int| {
        let (mask, value) = (u64::from(mask.unsigned_abs()), u64::from(value.unsigned_abs()));
        SeccompRule::new(vec![SeccompCondition::new(
            argument,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::MaskedEq(mask),
            value,
        )?])
    };
    let equal = |argument, value: u32| {
        let value = u64::from(value);
        let equal = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?;
        SeccompRule::new(vec![equal])
    };
    let writing = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = NEEDED.iter().map(|call| (*call, Vec::new())).collect();
    rules.extend([
        // Reading alone. What `openat2` is asked for cannot be looked at; Landlock refuses it to write.
        (libc::SYS_openat, vec![masked(2, writing, 0)?]),
        // Threads, and no processes.
        (libc::SYS_clone, vec![masked(0, libc::CLONE_THREAD, libc::CLONE_THREAD)?]),
        // To abort.
        (libc::SYS_tgkill, vec![equal(0, std::process::id())?]),
        // Of itself alone: another process can be ended by its limits.
        (libc::SYS_prlimit64, vec![equal(0, 0)?]),
        // Neither locks on other people's files nor signals for what happens to a descriptor.
        (libc::SYS_fcntl, FCNTL.iter().map(|command| equal(1, command.unsigned_abs())).collect::<Result<_, _>>()?),
    ]);
    #[cfg(target_arch = "x86_64")]
    rules.extend(OLDER.iter().map(|call| (*call, Vec::new())));
    Ok(rules)
}

/// What may be asked of a descriptor.
const FCNTL: [libc::c_int; 8] = [
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_ADD_SEALS,
    libc::F_GET_SEALS,
];

/// What files, memory, threads, clocks and the socket to the host need.
const NEEDED: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_clone3,
    libc::SYS_close,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_faccessat,
    libc::SYS_fadvise64,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_ftruncate,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_geteuid,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_memfd_create,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_newfstatat,
    libc::SYS_openat2,
    libc::SYS_ppoll,
    libc::SYS_prctl,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_pwrite64,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_recvmsg,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_sendmsg,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_sigaltstack,
    libc::SYS_statx,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_write,
    libc::SYS_writev,
];

/// Names for some of the same that only this architecture has.
#[cfg(target_arch = "x86_64")]
const OLDER: &[i64] = &[
    libc::SYS_access,
    libc::SYS_arch_prctl,
    libc::SYS_epoll_wait,
    libc::SYS_lstat,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_stat,
];
