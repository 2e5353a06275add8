use super::*;
use crate::executor::command::failed;

fn job(number: usize) -> Job {
    Job::new(JobId::new(format!("bash-{number}")), oneshot::channel().0, Stream::new(), Stream::new())
}

#[test]
fn jobs_that_are_being_started_neither_count_as_ended_nor_keep_what_has() {
    let mut jobs = Jobs { starting: 3, ..Jobs::default() };
    jobs.forget_oldest();
    jobs.jobs.extend((0..MAX_ENDED_JOBS + 4).map(job));
    for job in jobs.jobs.iter_mut().skip(1).take(MAX_ENDED_JOBS + 2) {
        job.end(Err(failed("it has ended")));
    }
    jobs.forget_oldest();
    let left: Vec<&str> = jobs.jobs.iter().map(|job| job.id.as_str()).collect();
    assert_eq!(left.len(), MAX_ENDED_JOBS + 2);
    // The first runs; the next two were the oldest that had ended.
    assert_eq!(left[..2], ["bash-0", "bash-3"]);
    assert_eq!(jobs.active(), 5);
}
