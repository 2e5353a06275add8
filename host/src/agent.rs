//! The loop of an agent: a model, its tools, a session.
