//! The span that a call is part of, where whoever makes it says so in the
//! [W3C's format](https://www.w3.org/TR/trace-context/#traceparent-header).

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

use crate::contract::Execution;

/// The extension that says it.
const EXTENSION: &str = "traceparent";

/// Bytes of version 00: two, thirty-two, sixteen and two digits, and what is between them.
const LENGTH: usize = 55;

/// The span that an execution is part of; none where it does not say, or says something else.
pub(super) fn of(execution: &Execution) -> Option<SpanContext> {
    let (_, text) = execution.extensions.iter().find(|(name, _)| name == EXTENSION)?;
    parse(text)
}

fn parse(text: &str) -> Option<SpanContext> {
    let (known, rest) = text.split_at_checked(LENGTH)?;
    let mut parts = known.split('-');
    let version = hex(parts.next()?, 2)?;
    // What later versions add is after another dash.
    let is_allowed = match version {
        0 => rest.is_empty(),
        0xff => false,
        _ => rest.is_empty() || rest.starts_with('-'),
    };
    let trace = TraceId::from(hex(parts.next()?, 32)?);
    let span = SpanId::from(u64::try_from(hex(parts.next()?, 16)?).ok()?);
    let flags = TraceFlags::new(u8::try_from(hex(parts.next()?, 2)?).ok()?);
    if !is_allowed || parts.next().is_some() || trace == TraceId::INVALID || span == SpanId::INVALID {
        return None;
    }
    Some(SpanContext::new(trace, span, flags & TraceFlags::SAMPLED, true, TraceState::NONE))
}

/// Exactly `digits` hexadecimal digits in lower case.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (text.len() == digits && text.bytes().all(is_digit)).then(|| u128::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_traceparent_is_read() {
        let parent = parse(GOOD).unwrap();
        assert_eq!(parent.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(parent.span_id().to_string(), "b7ad6b7169203331");
        assert!(parent.is_sampled() && parent.is_remote());
        assert!(!parse(&GOOD.replace("-01", "-00")).unwrap().is_sampled());
    }

    #[test]
    fn a_later_version_may_add_to_it() {
        assert!(parse(&GOOD.replacen("00", "01", 1)).is_some());
        assert!(parse(&format!("{}-more", GOOD.replacen("00", "01", 1))).is_some());
        assert!(parse(&format!("{}more", GOOD.replacen("00", "01", 1))).is_none());
    }

    #[test]
    fn anything_else_is_none() {
        for bad in [
            "",
            "00",
            &GOOD.to_uppercase(),
            &GOOD.replacen("00", "ff", 1),
            &format!("{GOOD}-more"),
            &format!(" {GOOD}"),
            &GOOD.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            &GOOD.replace("b7ad6b7169203331", &"0".repeat(16)),
            &GOOD.replace('-', "_"),
            &GOOD.replace("b7ad6b7169203331-01", "b7ad6b71692033-0101"),
            &GOOD.replace('b', "+"),
            &GOOD.replace("19c-", "1é-"),
        ] {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd_to_be_refused(text in "[0-9a-f-]{0,60}|\\PC{0,60}") {
            let _ = parse(&text);
        }
    }
}
