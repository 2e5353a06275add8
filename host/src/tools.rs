//! The shell tools that a model is shown.
