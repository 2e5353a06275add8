use super::*;
use crate::hooks::matcher::Matcher;

fn matches(dialect: Dialect, matcher: Option<&str>, name: &str) -> bool {
    Matcher::new(dialect, matcher).unwrap().matches(Some(name))
}

#[test]
fn both_dialects_read_most_matchers_alike() {
    for (matcher, matching, others) in [
        (None, &["Bash", "", "x y"][..], &[][..]),
        (Some(""), &["Bash", ""], &[]),
        (Some("*"), &["Bash", ""], &[]),
        (Some("Bash"), &["Bash"], &["bash", "BashOutput", "MyBash", ""]),
        (Some("Edit|Write"), &["Edit", "Write"], &["Edit|Write", "NotebookEdit", "Bash"]),
        (Some("mcp__memory"), &["mcp__memory"], &["mcp__memory__read"]),
        (Some("mcp__memory__.*"), &["mcp__memory__read", "mcp__memory__"], &["mcp__memory"]),
        (Some("^Bash$"), &["Bash"], &["BashOutput", "MyBash"]),
        (Some("^Bash"), &["Bash", "BashOutput"], &["MyBash"]),
        (Some("Notebook.*"), &["NotebookEdit", "MyNotebook"], &["notebook"]),
        (Some("(?i)bash"), &["Bash", "MyBASH"], &["sh"]),
        (Some(".*"), &["Bash", ""], &[]),
        (Some("a+b"), &["xaab"], &["a+b", "b"]),
    ] {
        for dialect in Dialect::ALL {
            for name in matching {
                assert!(matches(*dialect, matcher, name), "{dialect} {matcher:?} {name}");
            }
            for name in others {
                assert!(!matches(*dialect, matcher, name), "{dialect} {matcher:?} {name}");
            }
        }
    }
}

#[test]
fn claude_code_has_more_characters_in_names_and_lists() {
    use Dialect::{ClaudeCode, Codex};
    for (matcher, name, claude_code, codex) in [
        ("Edit, Write", "Write", true, false),
        ("Edit | Write", "Edit", true, false),
        ("mcp__brave-search", "mcp__brave-search", true, true),
        ("mcp__brave-search", "mcp__brave-search__web", false, true),
    ] {
        assert_eq!(matches(ClaudeCode, Some(matcher), name), claude_code, "{matcher} {name}");
        assert_eq!(matches(Codex, Some(matcher), name), codex, "{matcher} {name}");
    }
}

#[test]
fn what_is_no_regular_expression_is_refused_with_a_reason() {
    for matcher in ["[", "(", "a{2", "*.rs", "(?=look)", r"(a)\1"] {
        for dialect in Dialect::ALL {
            assert!(!Matcher::new(*dialect, Some(matcher)).unwrap_err().is_empty(), "{matcher}");
        }
    }
}

#[test]
fn an_event_is_matched_by_what_tells_it_from_others_of_its_name() {
    for (event, claude_code, codex) in [
        (start(), Some("startup"), Some("startup")),
        (prompt(), None, None),
        (before("bash"), Some("Bash"), Some("Bash")),
        (after("pwsh"), Some("PowerShell"), Some("Bash")),
        (stop(), None, None),
        (subagent_stop(), Some("explorer"), Some("explorer")),
        (end(), Some("other"), Some("other")),
    ] {
        assert_eq!(event.matched(Dialect::ClaudeCode), claude_code, "{}", event.name());
        assert_eq!(event.matched(Dialect::Codex), codex, "{}", event.name());
        assert_eq!(event.matched(Dialect::Codex).is_some(), event.name().has_matcher());
    }
}
