//! How far new builds of contributors are trusted.

use std::time::Duration;

use super::reader::Section;
use super::units::DAY;
use crate::error::Result;
use crate::installation::trust::{TrustNew, TrustSettings, TrustUpdate};

/// How a new build is tried beside the one that answers, before it takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadowSettings {
    /// After how many calls that both answered the trial is over.
    pub calls: usize,
    /// After how much time it is over, if there are fewer calls.
    pub time: Duration,
    /// What becomes of a build that answered otherwise.
    pub on_difference: OnDifference,
}

impl Default for ShadowSettings {
    fn default() -> Self {
        Self { calls: 100, time: Duration::from_secs(60), on_difference: OnDifference::default() }
    }
}

impl ShadowSettings {
    /// The most calls: more than a day has.
    const MOST_CALLS: usize = 100_000;

    /// The shortest trial.
    const LEAST_TIME: Duration = Duration::from_secs(1);
}

/// What becomes of a build that answered otherwise than the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDifference {
    /// It waits for approval.
    #[default]
    Wait,
    /// It goes live all the same, and the difference is told.
    Promote,
    /// It is refused.
    Refuse,
}

impl OnDifference {
    const ALL: &[Self] = &[Self::Wait, Self::Promote, Self::Refuse];

    /// The word for it in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Promote => "promote",
            Self::Refuse => "refuse",
        }
    }
}

pub(super) fn trust(section: &mut Section<'_>) -> Result<TrustSettings> {
    Ok(TrustSettings {
        new: section.choice("new", TrustNew::ALL, TrustNew::as_str)?,
        update: section.choice("update", TrustUpdate::ALL, TrustUpdate::as_str)?,
    })
}

pub(super) fn shadow(section: &mut Section<'_>) -> Result<ShadowSettings> {
    let default = ShadowSettings::default();
    Ok(ShadowSettings {
        calls: section.count("calls", default.calls, ShadowSettings::MOST_CALLS)?,
        time: section.time_within("time", default.time, ShadowSettings::LEAST_TIME, DAY)?,
        on_difference: section.choice("on-difference", OnDifference::ALL, OnDifference::as_str)?,
    })
}
