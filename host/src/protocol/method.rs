//! The methods.

macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// What a client can ask for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Method { $($(#[doc = $doc])+ $variant,)+ }

        impl Method {
            /// Every method, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in a request.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

methods! {
    /// What server this is.
    Hello = "host.hello",
    /// The overlay of one execution.
    Collect = "overlay.collect",
    /// Every variable that may be in an overlay.
    List = "contributors.list",
    /// What became of each contributor.
    Status = "contributors.status",
    /// Makes a build live that waits.
    Approve = "contributors.approve",
    /// Brings the previous build back.
    Rollback = "contributors.rollback",
    /// Reads a contributor's file again.
    Reload = "contributors.reload",
    /// Frees a name and its keys.
    Forget = "contributors.forget",
    /// What a contributor printed lately.
    Log = "contributors.log",
    /// Sets a fact for a time.
    PutFact = "facts.put",
    /// What is remembered of a key in a recent execution.
    Explain = "overlay.explain",
    /// Whether the host is well.
    Health = "host.health",
    /// Counts and times for Prometheus.
    Metrics = "host.metrics",
    /// Counts and times of late.
    Activity = "host.activity",
    /// Ends the server.
    Shutdown = "host.shutdown",
}

impl Method {
    /// The method of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|method| method.as_str() == name)
    }

    /// Whether the collect socket answers it too, and not the admin socket alone.
    #[must_use]
    pub fn is_for_everybody(self) -> bool {
        matches!(self, Self::Hello | Self::Collect | Self::List)
    }
}
