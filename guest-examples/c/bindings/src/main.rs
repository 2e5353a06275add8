//! `c-bindings WIT WORLD OUT`: writes the C bindings of a world into the folder OUT, as `wit-bindgen c` would.

use std::env::args_os;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use wit_bindgen_core::Files;
use wit_bindgen_core::wit_parser::Resolve;

fn main() -> Result<()> {
    let arguments: Vec<_> = args_os().skip(1).collect();
    let [wit, world, out] = arguments.as_slice() else { bail!("usage: c-bindings WIT WORLD OUT") };
    let out = PathBuf::from(out);

    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit)?;
    let world = resolve.select_world(&[package], world.to_str())?;
    let mut files = Files::default();
    wit_bindgen_c::Opts::default().build().generate(&mut resolve, world, &mut files)?;

    fs::create_dir_all(&out)?;
    for (name, content) in files.iter() {
        fs::write(out.join(name), content).with_context(|| format!("cannot write {name} in {}", out.display()))?;
    }
    Ok(())
}
