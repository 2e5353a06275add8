//! Read-only directories in which nothing hangs.
//!
//! wasmtime-wasi keeps every path below its directory and refuses every write. Here is added what it does
//! not look at: only regular files and directories are opened, since opening anything else can wait for
//! ever or do something, and none that the kernel makes up (procfs, sysfs and their like), wherever such a
//! filesystem may be mounted. Everything else is passed on.

use std::fs::File;

use rustix::fs::{FileType, fstat};
use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::filesystem::{Descriptor, Dir, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{self, Filesize};
use wasmtime_wasi::p2::bindings::sync::io::streams::{InputStream, OutputStream};
use wasmtime_wasi::p2::{FsError, FsResult};
use wasmtime_wasi::{FsPerms, OpenMode};

use super::{Preopen, World};
use crate::sandbox::call::CallState;
use crate::sandbox::grants::filesystems;

/// A descriptor of the guest.
type D = Resource<Descriptor>;

/// The filesystem as a call sees it.
pub(super) struct Files<'a> {
    pub(super) preopens: Vec<(Descriptor, String)>,
    pub(super) wasi: WasiFilesystemCtxView<'a>,
}

struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = Files<'a>;
}

/// A directory as wasmtime-wasi holds it: to be read, by the thread that calls.
pub(super) fn preopen(preopen: Preopen) -> (Descriptor, String) {
    let directory = Dir::new(preopen.directory, FsPerms::ReadOnly, OpenMode::READ, true);
    (Descriptor::Dir(directory), preopen.name)
}

/// Takes the place of wasmtime-wasi's own filesystem.
pub(super) fn add_to_linker(linker: &mut Linker<CallState<World>>) -> wasmtime::Result<()> {
    types::add_to_linker::<_, HasFiles>(linker, CallState::files)?;
    preopens::add_to_linker::<_, HasFiles>(linker, CallState::files)
}

impl Files<'_> {
    /// Whether a path leads to something that may be opened. What changes between this look and the opening
    /// can make the guest wait, which the time of its call ends, and no more.
    fn check_before(&mut self, fd: &D, flags: types::PathFlags, path: &str) -> FsResult<()> {
        let fd = Resource::new_borrow(fd.rep());
        match types::HostDescriptor::stat_at(&mut self.wasi, fd, flags, path.to_owned())?.type_ {
            types::DescriptorType::RegularFile | types::DescriptorType::Directory => Ok(()),
            types::DescriptorType::SymbolicLink => Err(ErrorCode::Loop.into()),
            _ => Err(ErrorCode::NotPermitted.into()),
        }
    }

    /// Whether what is at a path may be looked at: not where a filesystem that the kernel makes up is mounted below the
    /// directory, in which names and links say who is running.
    fn check_parent(&mut self, fd: &D, path: &str) -> FsResult<()> {
        let Some((parent, _)) = path.trim_end_matches('/').rsplit_once('/').filter(|(parent, _)| !parent.is_empty())
        else {
            return Ok(());
        };
        let fd = Resource::new_borrow(fd.rep());
        let opened = types::HostDescriptor::open_at(
            &mut self.wasi,
            fd,
            types::PathFlags::SYMLINK_FOLLOW,
            parent.to_owned(),
            types::OpenFlags::DIRECTORY,
            types::DescriptorFlags::READ,
        )?;
        let checked = self.check_after(&opened);
        self.wasi.table.delete(opened)?;
        checked
    }

    /// Whether what was opened may be read.
    fn check_after(&self, fd: &D) -> FsResult<()> {
        let file: &File = match self.wasi.table.get(fd)? {
            Descriptor::File(file) => &file.file,
            Descriptor::Dir(directory) => &directory.dir,
        };
        if is_ordinary(file) { Ok(()) } else { Err(ErrorCode::NotPermitted.into()) }
    }
}

/// Whether it is a regular file or a directory, of a filesystem that holds files.
fn is_ordinary(file: &File) -> bool {
    let ordinary_type = fstat(file)
        .is_ok_and(|stat| matches!(FileType::from_raw_mode(stat.st_mode), FileType::RegularFile | FileType::Directory));
    ordinary_type && filesystems::holds_files(file)
}

impl preopens::Host for Files<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(D, String)>> {
        let preopens = std::mem::take(&mut self.preopens);
        preopens.into_iter().map(|(directory, name)| Ok((self.wasi.table.push(directory)?, name))).collect()
    }
}

impl types::HostDescriptor for Files<'_> {
    fn open_at(
        &mut self,
        fd: D,
        path_flags: types::PathFlags,
        path: String,
        open_flags: types::OpenFlags,
        flags: types::DescriptorFlags,
    ) -> FsResult<D> {
        // What does not exist, or may not be written, is for wasmtime-wasi to say.
        if !open_flags.contains(types::OpenFlags::CREATE) {
            self.check_before(&fd, path_flags, &path)?;
        }
        let opened = types::HostDescriptor::open_at(&mut self.wasi, fd, path_flags, path, open_flags, flags)?;
        if let Err(error) = self.check_after(&opened) {
            self.wasi.table.delete(opened)?;
            return Err(error);
        }
        Ok(opened)
    }

    fn is_same_object(&mut self, one: D, other: D) -> wasmtime::Result<bool> {
        types::HostDescriptor::is_same_object(&mut self.wasi, one, other)
    }

    fn drop(&mut self, fd: D) -> wasmtime::Result<()> {
        types::HostDescriptor::drop(&mut self.wasi, fd)
    }

    fn advise(&mut self, fd: D, offset: Filesize, len: Filesize, advice: types::Advice) -> FsResult<()> {
        types::HostDescriptor::advise(&mut self.wasi, fd, offset, len, advice)
    }

    fn sync_data(&mut self, fd: D) -> FsResult<()> {
        types::HostDescriptor::sync_data(&mut self.wasi, fd)
    }

    fn get_flags(&mut self, fd: D) -> FsResult<types::DescriptorFlags> {
        types::HostDescriptor::get_flags(&mut self.wasi, fd)
    }

    fn get_type(&mut self, fd: D) -> FsResult<types::DescriptorType> {
        types::HostDescriptor::get_type(&mut self.wasi, fd)
    }

    fn set_size(&mut self, fd: D, size: Filesize) -> FsResult<()> {
        types::HostDescriptor::set_size(&mut self.wasi, fd, size)
    }

    fn set_times(&mut self, fd: D, atim: types::NewTimestamp, mtim: types::NewTimestamp) -> FsResult<()> {
        types::HostDescriptor::set_times(&mut self.wasi, fd, atim, mtim)
    }

    fn read(&mut self, fd: D, len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        types::HostDescriptor::read(&mut self.wasi, fd, len, offset)
    }

    fn write(&mut self, fd: D, buf: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        types::HostDescriptor::write(&mut self.wasi, fd, buf, offset)
    }

    fn read_directory(&mut self, fd: D) -> FsResult<Resource<types::DirectoryEntryStream>> {
        types::HostDescriptor::read_directory(&mut self.wasi, fd)
    }

    fn sync(&mut self, fd: D) -> FsResult<()> {
        types::HostDescriptor::sync(&mut self.wasi, fd)
    }

    fn create_directory_at(&mut self, fd: D, path: String) -> FsResult<()> {
        types::HostDescriptor::create_directory_at(&mut self.wasi, fd, path)
    }

    fn stat(&mut self, fd: D) -> FsResult<types::DescriptorStat> {
        types::HostDescriptor::stat(&mut self.wasi, fd)
    }

    fn stat_at(&mut self, fd: D, flags: types::PathFlags, path: String) -> FsResult<types::DescriptorStat> {
        self.check_parent(&fd, &path)?;
        types::HostDescriptor::stat_at(&mut self.wasi, fd, flags, path)
    }

    fn set_times_at(
        &mut self,
        fd: D,
        flags: types::PathFlags,
        path: String,
        atim: types::NewTimestamp,
        mtim: types::NewTimestamp,
    ) -> FsResult<()> {
        types::HostDescriptor::set_times_at(&mut self.wasi, fd, flags, path, atim, mtim)
    }

    fn link_at(&mut self, fd: D, flags: types::PathFlags, old: String, new_fd: D, new: String) -> FsResult<()> {
        types::HostDescriptor::link_at(&mut self.wasi, fd, flags, old, new_fd, new)
    }

    fn readlink_at(&mut self, fd: D, path: String) -> FsResult<String> {
        self.check_parent(&fd, &path)?;
        types::HostDescriptor::readlink_at(&mut self.wasi, fd, path)
    }

    fn remove_directory_at(&mut self, fd: D, path: String) -> FsResult<()> {
        types::HostDescriptor::remove_directory_at(&mut self.wasi, fd, path)
    }

    fn rename_at(&mut self, fd: D, old: String, new_fd: D, new: String) -> FsResult<()> {
        types::HostDescriptor::rename_at(&mut self.wasi, fd, old, new_fd, new)
    }

    fn symlink_at(&mut self, fd: D, old: String, new: String) -> FsResult<()> {
        types::HostDescriptor::symlink_at(&mut self.wasi, fd, old, new)
    }

    fn unlink_file_at(&mut self, fd: D, path: String) -> FsResult<()> {
        types::HostDescriptor::unlink_file_at(&mut self.wasi, fd, path)
    }

    fn read_via_stream(&mut self, fd: D, offset: Filesize) -> FsResult<Resource<InputStream>> {
        types::HostDescriptor::read_via_stream(&mut self.wasi, fd, offset)
    }

    fn write_via_stream(&mut self, fd: D, offset: Filesize) -> FsResult<Resource<OutputStream>> {
        types::HostDescriptor::write_via_stream(&mut self.wasi, fd, offset)
    }

    fn append_via_stream(&mut self, fd: D) -> FsResult<Resource<OutputStream>> {
        types::HostDescriptor::append_via_stream(&mut self.wasi, fd)
    }

    fn metadata_hash(&mut self, fd: D) -> FsResult<types::MetadataHashValue> {
        types::HostDescriptor::metadata_hash(&mut self.wasi, fd)
    }

    fn metadata_hash_at(&mut self, fd: D, flags: types::PathFlags, path: String) -> FsResult<types::MetadataHashValue> {
        self.check_parent(&fd, &path)?;
        types::HostDescriptor::metadata_hash_at(&mut self.wasi, fd, flags, path)
    }
}

impl types::HostDirectoryEntryStream for Files<'_> {
    fn read_directory_entry(
        &mut self,
        stream: Resource<types::DirectoryEntryStream>,
    ) -> FsResult<Option<types::DirectoryEntry>> {
        types::HostDirectoryEntryStream::read_directory_entry(&mut self.wasi, stream)
    }

    fn drop(&mut self, stream: Resource<types::DirectoryEntryStream>) -> wasmtime::Result<()> {
        types::HostDirectoryEntryStream::drop(&mut self.wasi, stream)
    }
}

impl types::Host for Files<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<types::ErrorCode> {
        types::Host::convert_error_code(&mut self.wasi, error)
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<types::ErrorCode>> {
        types::Host::filesystem_error_code(&mut self.wasi, error)
    }
}
