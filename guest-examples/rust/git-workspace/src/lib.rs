//! A contributor that reads files: it owns `DSH_GIT_BRANCH` and `DSH_GIT_COMMIT`, what is checked out in the Git work
//! tree around the command. It sees one only where the operator grants `workspace = "repository"`: the Git directory
//! as `/gitdir`, the one that linked work trees share as `/gitcommon`. Without the grant both variables are absent.
//! [`repository`] has the rules.

pub mod repository;

mod bindings {
    wit_bindgen::generate!({ path: "../../../wit", world: "shell-env-contributor" });
}

use std::fs::File;
use std::io;

use bindings::exports::dsh::shell_env::contributor::{Binding, Declaration, Execution, Guest, Variable};
use repository::{Files, checked_out};

const BRANCH: &str = "DSH_GIT_BRANCH";
const COMMIT: &str = "DSH_GIT_COMMIT";

struct GitWorkspace;

impl Guest for GitWorkspace {
    fn declare() -> Declaration {
        let variable = |key: &str, description: &str| Variable {
            key: key.into(),
            description: description.into(),
            sensitive: false,
            metadata: vec![],
        };
        Declaration {
            name: "git-workspace".into(),
            variables: vec![
                variable(
                    BRANCH,
                    "Short name of the Git branch that is checked out around the command's working directory, such as \
                     `main`. A hint from before the command ran, and no credential: the command may check out another. \
                     Absent when no branch is checked out, outside of a repository, without the workspace grant, and \
                     when the repository keeps its refs in a form that is not read.",
                ),
                variable(
                    COMMIT,
                    "Full object id, 40 or 64 hexadecimal digits, of the Git commit that is checked out around the \
                     command's working directory. A hint from before the command ran, and no credential. Absent when \
                     nothing is committed yet, outside of a repository, without the workspace grant, and when the \
                     repository keeps its refs in a form that is not read.",
                ),
            ],
            metadata: vec![],
        }
    }

    /// No file is an error here: what cannot be read is not known, and so absent.
    fn resolve(_: Execution) -> Result<Vec<Binding>, String> {
        let found = checked_out(&Granted);
        let values = [(BRANCH, found.branch), (COMMIT, found.commit)];
        Ok(values.into_iter().filter_map(|(key, value)| Some(Binding { key: key.into(), value: value? })).collect())
    }
}

/// The folders of the workspace grant, where the host shows them.
struct Granted;

impl Files for Granted {
    type File = File;

    fn open(&self, path: &str) -> io::Result<File> {
        File::open(path)
    }
}

// Only where there is a host to export to: other linkers refuse the names.
#[cfg(target_family = "wasm")]
bindings::export!(GitWorkspace with_types_in bindings);
