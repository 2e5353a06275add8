mod bounds;
mod ending;
mod failures;
mod foreground;
mod job_output;
mod jobs;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod leaks;
mod left_behind;
#[cfg(target_os = "linux")]
mod stopped_keeper;
mod support;
mod turns;
