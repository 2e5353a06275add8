//! Components made to order from `fixtures/guests/base.wat`.

use std::collections::BTreeMap;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// A contributor whose parts a test chooses, as text of WebAssembly.
#[derive(Clone)]
pub struct Guest {
    parts: BTreeMap<&'static str, String>,
}

impl Guest {
    /// A contributor with which nothing is wrong.
    pub fn good() -> Self {
        let parts = [
            ("imports", ""),
            ("pages", "2"),
            ("extra", ""),
            ("realloc", "(call $allocate (local.get $size))"),
            ("declare", "(i32.const 1024)"),
            ("resolve", "(i32.const 1408)"),
            ("sensitive", "\\00"),
        ];
        Self { parts: parts.map(|(name, text)| (name, text.to_owned())).into() }
    }

    /// A contributor of this name that declares these keys and resolves them to these values.
    pub fn saying(name: &str, values: &[(&str, &str)]) -> Self {
        let variables: Vec<_> = values.iter().map(|(key, value)| (*key, "A fact.", false, Some(*value))).collect();
        Self::declaring(name, &variables)
    }

    /// A contributor of this name with these variables: key, description, whether it is sensitive, and the value.
    pub fn declaring(name: &str, variables: &[(&str, &str, bool, Option<&str>)]) -> Self {
        // All of it is data, in the second page: strings first, then the records that point to them.
        const BASE: usize = 0x10000;
        let mut data = Vec::new();
        let mut text = |text: &str| {
            let at = [BASE + data.len(), text.len()].map(|number| u32::try_from(number).unwrap().to_le_bytes());
            data.extend_from_slice(text.as_bytes());
            at.concat()
        };
        let name = text(name);
        let (mut declared, mut bound) = (Vec::new(), Vec::new());
        for (key, description, sensitive, value) in variables {
            declared.extend([text(key), text(description), vec![u8::from(*sensitive), 0, 0, 0], vec![0; 8]].concat());
            bound.extend(value.map(|value| [text(key), text(value)].concat()).unwrap_or_default());
        }
        data.resize(data.len().next_multiple_of(8), 0);
        let mut record = |bytes: Vec<u8>| {
            let at = u32::try_from(BASE + data.len()).unwrap();
            data.extend(bytes);
            at
        };
        let list = |at: u32, length: usize| [at.to_le_bytes(), u32::try_from(length).unwrap().to_le_bytes()].concat();
        let (bindings, values) = (bound.len() / 16, record(bound));
        let said = record(declared);
        let declaration = record([name, list(said, variables.len()), vec![0; 8]].concat());
        let resolved = record([vec![0; 4], list(values, bindings)].concat());
        let escaped: String = data.iter().map(|byte| format!("\\{byte:02x}")).collect();
        Self::good()
            .with("pages", "4")
            .with("extra", format!(r#"(data (i32.const {BASE}) "{escaped}")"#))
            .with("declare", format!("(i32.const {declaration})"))
            .with("resolve", format!("(i32.const {resolved})"))
    }

    /// One that resolves to the value of the first extension that it sees, or to nothing.
    pub fn repeating_an_extension() -> Self {
        // The list of extensions ends the record; its elements are a name and a value. 1412 has the list of
        // bindings, 1448 the value of the one.
        Self::good().with(
            "resolve",
            "(local.set $i (i32.load offset=120 (local.get $execution)))
            (if (i32.eqz (i32.load offset=124 (local.get $execution)))
                (then (i32.store (i32.const 1416) (i32.const 0)))
                (else (i64.store (i32.const 1448) (i64.load offset=8 align=4 (local.get $i)))))
            (i32.const 1408)",
        )
    }

    /// One of WASI's preview 1, to be taken as a core module: it prints "hello" and a line that steers a terminal,
    /// and resolves to how many variables it sees, a digit.
    pub fn printing() -> Self {
        Self::good()
            .with(
                "imports",
                r#"(import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
                (import "wasi_snapshot_preview1" "environ_sizes_get" (func $count (param i32 i32) (result i32)))"#,
            )
            .with(
                "extra",
                r#"(data (i32.const 2048) "\00\09\00\00\0c\00\00\00") (data (i32.const 2304) "hello\n\1b[31m\n")"#,
            )
            .with(
                "resolve",
                "(drop (call $write (i32.const 2) (i32.const 2048) (i32.const 1) (i32.const 2064)))
                (drop (call $count (i32.const 2068) (i32.const 2072)))
                (i32.store8 (i32.const 1496) (i32.add (i32.const 48) (i32.load (i32.const 2068))))
                (i32.const 1408)",
            )
    }

    /// The same with one part replaced: `imports`, `pages`, `extra`, `realloc`, `declare`, `resolve` or `sensitive`.
    pub fn with(mut self, part: &'static str, text: impl Into<String>) -> Self {
        assert!(self.parts.insert(part, text.into()).is_some(), "{part} is no part");
        self
    }

    /// The core module, with the contract embedded.
    pub fn core_module(&self) -> Vec<u8> {
        self.embedded(&std::fs::read_to_string(super::project().join("wit/contributor.wit")).unwrap())
    }

    /// The component.
    pub fn component(&self) -> Vec<u8> {
        componentize(&self.core_module())
    }

    /// The component for another text of the contract, whose module exports are renamed with `rename`.
    pub fn component_for(&self, wit: &str) -> Vec<u8> {
        componentize(&self.embedded(wit))
    }

    fn embedded(&self, wit: &str) -> Vec<u8> {
        let mut text = std::fs::read_to_string(super::fixtures().join("guests/base.wat")).unwrap();
        for (name, part) in &self.parts {
            text = text.replace(&format!("@{name}@"), part);
        }
        let version = wit.split_once("package dsh:shell-env").unwrap().1.split_once(';').unwrap().0;
        text = text.replace("@1.0.0", version);
        let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}"));
        let mut resolve = Resolve::default();
        let package = resolve.push_str("contributor.wit", wit).unwrap();
        let world = resolve.select_world(&[package], None).unwrap();
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
        module
    }
}

/// A component of a core module that has its contract embedded.
pub fn componentize(module: &[u8]) -> Vec<u8> {
    ComponentEncoder::default().module(module).unwrap().encode().unwrap()
}

/// A component that imports instances of these names, of which it uses nothing, and else is like another.
pub fn importing(component: &[u8], imports: &[&str]) -> Vec<u8> {
    const INTERFACE: &str = "dsh:shell-env/contributor@1.0.0";
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    let mut section = |id: u8, content: &[u8]| {
        bytes.push(id);
        bytes.extend(leb(content.len()));
        bytes.extend_from_slice(content);
    };
    // The type of an instance that exports nothing, and imports of it.
    section(7, &[1, 0x42, 0]);
    let mut content = leb(imports.len());
    for import in imports {
        content.extend([&[0], leb(import.len()).as_slice(), import.as_bytes(), &[5, 0]].concat());
    }
    section(10, &content);
    // The other component, its instance, the interface that it exports, and that exported again.
    let at = u8::try_from(imports.len()).unwrap();
    section(4, component);
    section(5, &[1, 0, 0, 0]);
    section(6, &[&[1, 5, 0, at, INTERFACE.len() as u8], INTERFACE.as_bytes()].concat());
    section(11, &[&[1, 0, INTERFACE.len() as u8], INTERFACE.as_bytes(), &[5, at + 1, 0]].concat());
    bytes
}

fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        bytes.push(if number == 0 { low } else { low | 0x80 });
        if number == 0 {
            return bytes;
        }
    }
}
