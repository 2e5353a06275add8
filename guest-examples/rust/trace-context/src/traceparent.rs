//! How ids become a traceparent. Nothing but the ids goes in: the same ones give the same text, in every build and on
//! every platform.

use hmac_sha256::Hash;

/// The [W3C traceparent](https://www.w3.org/TR/trace-context/#traceparent-header), version 00 and sampled, of one call.
///
/// The trace id is the first 16 bytes of the SHA-256 of `session:` and the session's id; without a session, of
/// `root-call:` and the id of the root call, so that nested calls still share a trace. The parent id is the first 8
/// bytes of the SHA-256 of `call:` and the call's id. The prefixes keep apart ids that happen to be equal. An id of
/// nothing but zeros, which the standard forbids, becomes 1.
///
/// A shell computes the same: `printf session:%s "$DSH_SESSION_ID" | sha256sum | cut -c 1-32`.
pub fn traceparent(session_id: Option<&str>, root_call_id: &str, call_id: &str) -> String {
    let trace_id = match session_id {
        Some(id) => id_from_digest(sha256("session:", id), 16),
        None => id_from_digest(sha256("root-call:", root_call_id), 16),
    };
    let parent_id = id_from_digest(sha256("call:", call_id), 8);
    format!("00-{trace_id:032x}-{parent_id:016x}-01")
}

fn sha256(prefix: &str, id: &str) -> [u8; 32] {
    let mut hash = Hash::new();
    hash.update(prefix);
    hash.update(id);
    hash.finalize()
}

/// The first `bytes` of the digest as a big-endian number, never 0.
fn id_from_digest(digest: [u8; 32], bytes: usize) -> u128 {
    digest.iter().take(bytes).fold(0, |id, byte| id << 8 | u128::from(*byte)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(traceparent: &str) -> Vec<&str> {
        traceparent.split('-').collect()
    }

    #[test]
    fn it_is_version_00_and_two_lowercase_hexadecimal_ids_and_sampled() {
        let text = traceparent(Some("session-1"), "call-1", "call-1");
        let parts = parts(&text);
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [2, 32, 16, 2]);
        assert_eq!((parts.first(), parts.last()), (Some(&"00"), Some(&"01")));
        assert!(text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f' | '-')), "{text}");
    }

    #[test]
    fn the_ids_are_those_that_sha256sum_gives() {
        assert_eq!(
            traceparent(Some("session-1"), "call-1", "call-2"),
            "00-ab81ced6142669be10cf90fcdfedffe8-a04ecb081afaf369-01"
        );
        assert_eq!(traceparent(None, "call-1", "call-2"), "00-846a28c5e32bb684ee0872835a8923b0-a04ecb081afaf369-01");
    }

    #[test]
    fn every_call_of_a_session_shares_its_trace_and_has_a_parent_of_its_own() {
        let first = traceparent(Some("session-1"), "call-1", "call-1");
        let second = traceparent(Some("session-1"), "call-2", "call-2");
        assert_eq!(parts(&first).get(1), parts(&second).get(1));
        assert_ne!(parts(&first).get(2), parts(&second).get(2));
    }

    #[test]
    fn two_sessions_have_different_traces() {
        let one = traceparent(Some("session-1"), "call-1", "call-1");
        let other = traceparent(Some("session-2"), "call-1", "call-1");
        assert_ne!(parts(&one).get(1), parts(&other).get(1));
    }

    #[test]
    fn without_a_session_the_calls_under_one_root_share_a_trace() {
        let root = traceparent(None, "call-1", "call-1");
        let nested = traceparent(None, "call-1", "call-2");
        let stranger = traceparent(None, "call-3", "call-3");
        assert_eq!(parts(&root).get(1), parts(&nested).get(1));
        assert_ne!(parts(&root).get(1), parts(&stranger).get(1));
    }

    #[test]
    fn a_session_and_a_root_call_of_the_same_id_are_different_traces() {
        let session = traceparent(Some("same"), "same", "same");
        let root_call = traceparent(None, "same", "same");
        assert_ne!(parts(&session).get(1), parts(&root_call).get(1));
    }

    #[test]
    fn an_id_is_never_all_zero() {
        assert_eq!(id_from_digest([0; 32], 16), 1);
        assert_eq!(id_from_digest([0; 32], 8), 1);
    }
}
