//! The lexical part of the rule: what a text means as a path, with nothing on disk touched.

use std::path::{Component, Path, PathBuf};

/// `text` with a leading `~`, `~/` or `~\` replaced by the user's home. `~bob/x` and `$HOME/x` are
/// literal. `None` when the user's home is needed and not known.
#[must_use]
pub fn expand_tilde(text: &str, user_home: Option<&Path>) -> Option<PathBuf> {
    if text == "~" {
        return user_home.map(Path::to_path_buf);
    }
    let Some(rest) = text.strip_prefix("~/").or_else(|| text.strip_prefix("~\\")) else {
        return Some(PathBuf::from(text));
    };
    // `~//x` is below the home, where joining `/x` would leave it.
    user_home.map(|home| home.join(rest.trim_start_matches('/')))
}

/// `path` made absolute against `base`, without `.`, `..`, doubled or trailing slashes. Links are not
/// followed, and `..` of the root is the root. `None` when `base` is needed and not absolute.
#[must_use]
pub fn normalise(path: &Path, base: Option<&Path>) -> Option<PathBuf> {
    let absolute =
        if path.is_absolute() { path.to_path_buf() } else { base.filter(|base| base.is_absolute())?.join(path) };
    let mut normal = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            kept => normal.push(kept),
        }
    }
    Some(normal)
}
