//! Filesystems that the kernel makes up, in which a path is a request and not a file.

use rustix::fs::fstatfs;
use std::os::fd::AsFd;

/// Magic numbers from `linux/magic.h`: autofs, procfs, sysfs, devpts, debugfs, tracefs, securityfs, cgroup,
/// cgroup2, BPF, configfs, the binary formats, selinuxfs, pstore, efivarfs, fusectl, mqueue, nsfs, and
/// the kernel's handles for processes.
const MADE_UP: [u64; 19] = [
    0x0187,
    0x9fa0,
    0x6265_6572,
    0x1cd1,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0x0027_e0eb,
    0x6367_7270,
    0xcafe_4a11,
    0x6265_6570,
    0x4249_4e4d,
    0xf97c_ff8c,
    0x6165_676c,
    0xde5e_81e4,
    0x6573_5543,
    0x1980_0202,
    0x6e73_6673,
    0x5049_4446,
];

/// Whether something that is open is of a filesystem that holds files. devtmpfs says of itself that it is a
/// tmpfs; what is in it are devices, which are told by their type.
pub(in crate::sandbox) fn holds_files(file: impl AsFd) -> bool {
    fstatfs(file).is_ok_and(|stat| !MADE_UP.contains(&(stat.f_type as u64)))
}
