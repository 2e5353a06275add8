//! The skills that are in a host's home.
