//! Any file where an entry of the cache is expected.
//!
//! The first byte of an input says what is done to a real entry with the others. A digest is made anew only where
//! the machine code stays as it is: whoever can write code with a digest of its own into the folder is this user,
//! and could as well replace the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use dsh_env::contract::{Binding, Contributor as _, Deadline};
use dsh_env::sandbox::{Isolation, LoadedComponent, Sandbox, SandboxOptions};
use dsh_env::{Code, Error, Stage};
use sha2::{Digest as _, Sha256};

use super::checks;

/// A component that returns 1 for `DSH_PROBE`.
const COMPONENT: &[u8] = include_bytes!("../../tests/fixtures/hostile/ok-minimal.wasm");

/// What is loaded: no component, so that a miss is an error at once, where compiling would take a hundred times as
/// long. A hit is the component above, under this one's name.
const STAND_IN: &[u8] = b"no component";

/// Bytes of the digest that ends an entry.
const DIGEST_BYTES: usize = 32;

/// Bytes of the length before it, which is that of the list of imports before both.
const LENGTH_BYTES: usize = 4;

/// A load finds an entry that is whole and ours, or misses. Where the digest was made anew over another list of
/// imports, it is what this user says, and may be refused.
pub fn run(bytes: &[u8]) {
    let (kind, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let (name, whole) = entry();
    let placed = Placed::new(*kind, rest, name, whole);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), &placed.bytes).unwrap();
    let loaded = sandbox(folder.path()).load(STAND_IN);
    match loaded.and_then(|component| works(&component).map(|()| component.from_cache())) {
        Ok(hit) => assert!(hit && (placed.is_signed || placed.bytes == *whole), "a changed entry was used"),
        Err(error) => {
            checks::error(&error);
            assert_eq!(error.stage(), Stage::Load, "{error}");
            assert!(placed.is_signed || error.code() == Code::NotAComponent, "no miss: {error}");
            assert_ne!(placed.bytes, *whole, "{error}");
        }
    }
}

/// A file in the place of an entry.
struct Placed {
    bytes: Vec<u8>,
    /// Whether it has a digest of its own.
    is_signed: bool,
}

impl Placed {
    fn new(kind: u8, rest: &[u8], name: &str, whole: &[u8]) -> Self {
        let unsigned = |bytes| Self { bytes, is_signed: false };
        let code = code(whole);
        match kind {
            b'f' => unsigned(flipped(whole, rest)),
            b't' => unsigned(whole[..number(rest) % whole.len()].to_vec()),
            b'e' => unsigned([whole, rest].concat()),
            b'h' => unsigned([rest, whole.get(rest.len()..).unwrap_or_default()].concat()),
            // Another list of imports behind the same code.
            b'i' => {
                let length = u32::try_from(rest.len()).unwrap().to_le_bytes();
                Self { bytes: signed(name, [code, rest, &length].concat()), is_signed: true }
            }
            // A list that is longer than all there is.
            b'l' => {
                let body = &whole[..whole.len() - LENGTH_BYTES - DIGEST_BYTES];
                let length = u32::try_from(body.len() + 1 + number(rest)).unwrap_or(u32::MAX).to_le_bytes();
                Self { bytes: signed(name, [body, &length].concat()), is_signed: true }
            }
            _ => unsigned(rest.to_vec()),
        }
    }
}

/// The entry with bits changed, of each five bytes: where, and which.
fn flipped(whole: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for flip in rest.chunks(5) {
        let at = number(flip) % bytes.len();
        bytes[at] ^= flip.get(4).copied().unwrap_or(1);
    }
    bytes
}

/// The first four bytes as a number, least significant first.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().take(4).rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// With the digest that an entry of this name has.
fn signed(name: &str, mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = Sha256::new().chain_update(name).chain_update(&bytes).finalize();
    bytes.extend_from_slice(&digest);
    bytes
}

/// The machine code of an entry.
fn code(whole: &[u8]) -> &[u8] {
    let (body, length) = whole[..whole.len() - DIGEST_BYTES].split_at(whole.len() - DIGEST_BYTES - LENGTH_BYTES);
    &body[..body.len() - number(length)]
}

/// The bytes of the entry that this build makes of the component, and the name that it has to have here.
fn entry() -> &'static (String, Vec<u8>) {
    static ENTRY: OnceLock<(String, Vec<u8>)> = OnceLock::new();
    ENTRY.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        works(&sandbox(folder.path()).load(COMPONENT).unwrap()).unwrap();
        let entries: Vec<PathBuf> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let [entry] = entries.as_slice() else { panic!("{entries:?}") };
        let bytes = fs::read(entry).unwrap();
        let name = entry.file_name().unwrap().to_str().unwrap();
        let body = &bytes[..bytes.len() - DIGEST_BYTES];
        assert_eq!(signed(name, body.to_vec()), bytes, "entries have another layout now");
        assert!(name.contains(&hex(COMPONENT)), "entries have other names now: {name}");
        let name = name.replace(&hex(COMPONENT), &hex(STAND_IN));
        let bytes = signed(&name, body.to_vec());
        (name, bytes)
    })
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sandbox(folder: &Path) -> Sandbox {
    Sandbox::new(&SandboxOptions::new().isolation(Isolation::InProcess).cache(folder)).unwrap()
}

fn works(component: &LoadedComponent) -> Result<(), Error> {
    let contributor = component.contributor()?;
    let said = contributor.resolve(&checks::execution(), &Deadline::after(Duration::from_secs(5)));
    assert_eq!(said, Ok(vec![Binding::new("DSH_PROBE", "1")]));
    Ok(())
}
