//! As much of the encoding of protobuf and of OTLP's messages as traces take, read from the specification and not with
//! the code that wrote them.

use std::collections::BTreeMap;

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Field<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

impl<'b> Field<'b> {
    fn number(self) -> u64 {
        let Self::Number(number) = self else { panic!("{self:?} is no number") };
        number
    }

    fn bytes(self) -> &'b [u8] {
        let Self::Bytes(bytes) = self else { panic!("{self:?} has no length") };
        bytes
    }

    fn text(self) -> String {
        String::from_utf8(self.bytes().to_owned()).unwrap()
    }
}

/// The fields of a message, by their numbers.
fn fields(mut bytes: &[u8]) -> BTreeMap<u64, Vec<Field<'_>>> {
    let mut fields = BTreeMap::<_, Vec<_>>::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => Field::Number(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                Field::Bytes(take(&mut bytes, length))
            }
            5 => Field::Number(u64::from(u32::from_le_bytes(take(&mut bytes, 4).try_into().unwrap()))),
            other => panic!("wire type {other}"),
        };
        fields.entry(tag >> 3).or_default().push(field);
    }
    fields
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return number;
        }
    }
    panic!("a number of more than 64 bits");
}

/// The fields of each message that a field of a message has.
fn each<'b>(message: &[Field<'b>]) -> Vec<BTreeMap<u64, Vec<Field<'b>>>> {
    message.iter().map(|field| fields(field.bytes())).collect()
}

fn of<'f, 'b>(message: &'f BTreeMap<u64, Vec<Field<'b>>>, number: u64) -> &'f [Field<'b>] {
    message.get(&number).map_or(&[], Vec::as_slice)
}

/// The value of a `KeyValue`, by its key; integers as text.
fn attributes(message: &[Field<'_>]) -> BTreeMap<String, String> {
    let pair = |pair: &BTreeMap<u64, Vec<Field<'_>>>| {
        let value = fields(of(pair, 2)[0].bytes());
        let text = match (of(&value, 1), of(&value, 3)) {
            ([text], []) => text.text(),
            ([], [number]) => number.number().to_string(),
            other => panic!("{other:?} is neither a text nor an integer"),
        };
        (of(pair, 1)[0].text(), text)
    };
    each(message).iter().map(pair).collect()
}

/// A span as a collector has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Span {
    /// Hexadecimal.
    pub(super) trace: String,
    /// Hexadecimal.
    pub(super) id: String,
    /// Hexadecimal; empty for one that has none.
    pub(super) parent: String,
    pub(super) name: String,
    /// Nanoseconds since the epoch.
    pub(super) start: u64,
    /// Nanoseconds since the epoch.
    pub(super) end: u64,
    pub(super) attributes: BTreeMap<String, String>,
    /// 0 where it is not set, 2 for an error.
    pub(super) status: u64,
    pub(super) status_message: String,
    /// Attributes of the resource.
    pub(super) resource: BTreeMap<String, String>,
    /// How many events and links there are.
    pub(super) further: usize,
}

/// The spans of an `ExportTraceServiceRequest`.
pub(super) fn spans(request: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    for resource_spans in each(of(&fields(request), 1)) {
        let resource = each(of(&resource_spans, 1)).first().map(|resource| attributes(of(resource, 1)));
        for scope_spans in each(of(&resource_spans, 2)) {
            for span in each(of(&scope_spans, 2)) {
                spans.push(Span { resource: resource.clone().unwrap_or_default(), ..one(&span) });
            }
        }
    }
    spans
}

fn one(span: &BTreeMap<u64, Vec<Field<'_>>>) -> Span {
    let hex =
        |number| of(span, number).iter().flat_map(|field| field.bytes()).map(|byte| format!("{byte:02x}")).collect();
    let number = |number| of(span, number).first().map_or(0, |field| field.number());
    let status = each(of(span, 15)).into_iter().next().unwrap_or_default();
    Span {
        trace: hex(1),
        id: hex(2),
        parent: hex(4),
        name: of(span, 5).first().map(|field| field.text()).unwrap_or_default(),
        start: number(7),
        end: number(8),
        attributes: attributes(of(span, 9)),
        status: of(&status, 3).first().map_or(0, |field| field.number()),
        status_message: of(&status, 2).first().map(|field| field.text()).unwrap_or_default(),
        resource: BTreeMap::new(),
        further: of(span, 11).len() + of(span, 13).len(),
    }
}
