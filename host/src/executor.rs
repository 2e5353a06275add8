//! Commands: started, bounded in time and output, ended with their host.
