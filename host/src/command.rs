//! What the command line needs beside the library.

pub mod format;
