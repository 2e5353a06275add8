use super::*;

#[test]
fn values_are_counted_and_what_is_within_text_is_not() {
    for (line, values) in [
        ("0", 1),
        ("[]", 2),
        ("[0,0,0]", 4),
        (r#"{"a":1}"#, 12),
        (r#"{"a":1,"b":[{},{}]}"#, 36),
        (r#""[{,:\"[{,:\\""#, 1),
        (r#"["\\",","]"#, 3),
        ("", 1),
    ] {
        let size = Size::of_line(line.as_bytes());
        assert_eq!(size, Size { bytes: line.len() as u64, values }, "{line}");
    }
}
