//! Contributors that are good and hard to compile.

use super::guest::Guest;

/// A block that is left on a condition: two places where control flow parts.
pub const BLOCK: &[u8] = &[0x02, 0x40, 0x41, 0x00, 0x0d, 0x00, 0x0b];

/// The most bytes of a function that engines take.
pub const LARGEST_FUNCTION: usize = 7_654_321;

/// A good contributor that has a module beside its own, of functions that all have the same body.
pub fn with_functions(count: usize, body: &[u8]) -> Vec<u8> {
    let mut function = vec![0];
    function.extend(body);
    function.push(0x0b);
    let mut code = number(function.len());
    code.extend(&function);
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    section(&mut module, 1, &[1, 0x60, 0, 0]);
    section(&mut module, 3, &[number(count), vec![0; count]].concat());
    section(&mut module, 10, &[number(count), code.repeat(count)].concat());
    let mut component = Guest::good().component();
    section(&mut component, 1, &module);
    component
}

fn section(to: &mut Vec<u8>, id: u8, content: &[u8]) {
    to.push(id);
    to.extend(number(content.len()));
    to.extend(content);
}

/// A number as WebAssembly writes it.
fn number(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let byte = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(byte);
            return bytes;
        }
        bytes.push(byte | 0x80);
    }
}
