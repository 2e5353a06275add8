//! Who may ask for what.

use crate::protocol::{ADMIN_SOCKET, COLLECT_SOCKET, Method};

/// What a client may ask for, by the socket that it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Whoever starts commands: overlays, and what may be in them.
    Collect,
    /// The operator: everything.
    Admin,
}

impl Role {
    pub(super) const ALL: [Self; 2] = [Self::Collect, Self::Admin];

    /// The word for it: the name of a socket that is handed over.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Collect => "collect",
            Self::Admin => "admin",
        }
    }

    /// The name of its socket in the folder of sockets.
    pub(super) fn socket(self) -> &'static str {
        match self {
            Self::Collect => COLLECT_SOCKET,
            Self::Admin => ADMIN_SOCKET,
        }
    }

    /// Whether the method may be asked for.
    pub(super) fn may(self, method: Method) -> bool {
        self == Self::Admin || method.is_for_everybody()
    }
}
