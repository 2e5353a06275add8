//! What somebody may have meant.

/// A name longer than this is no slip of the pen, and comparing takes time.
const MAX_BYTES: usize = 128;

/// Which of the known names is so near to `name` that it may have been meant: at most a third of it is
/// different. Of two that are equally near it is the first.
#[must_use]
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > MAX_BYTES {
        return None;
    }
    let near = known.into_iter().filter(|known| known.len() <= MAX_BYTES).filter_map(|known| {
        let distance = strsim::damerau_levenshtein(name, known);
        let length = name.chars().count().max(known.chars().count());
        (distance * 3 <= length).then_some((distance, known))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const KNOWN: [&str; 4] = ["required", "enabled", "cpu", "on-failure"];

    #[test]
    fn slips_of_the_pen_are_recognised() {
        for (slip, meant) in [
            ("requird", "required"),
            ("cup", "cpu"),
            ("Enabled", "enabled"),
            ("on_failure", "on-failure"),
            ("cpus", "cpu"),
        ] {
            assert_eq!(nearest(slip, KNOWN), Some(meant), "{slip}");
        }
    }

    #[test]
    fn what_is_something_else_is_not_taken_for_a_slip() {
        for other in ["", "x", "c", "memory", "disabled-by", &"required".repeat(1000)] {
            assert_eq!(nearest(other, KNOWN), None, "{other}");
        }
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn the_nearest_of_several_wins() {
        assert_eq!(nearest("DSH_GIT_BRANC", ["DSH_GIT_BRAND", "DSH_GIT_BRANCH", "DSH_GIT_BR"]), Some("DSH_GIT_BRAND"));
        assert_eq!(nearest("abcdef", ["abcdxx", "abcdex"]), Some("abcdex"));
    }
}
