//! Users' hooks, in the dialects of Claude Code and Codex.
