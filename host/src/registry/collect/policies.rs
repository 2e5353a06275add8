//! What becomes of an answer, and of the keys that have none: the operator's policies.

use super::Collection;
use crate::contract::DeclaredVariable;
use crate::error::{Code, Error, Result, Stage};
use crate::registry::answer::Answer;
use crate::registry::overlay::{Affected, Report, Value};
use crate::registry::snapshot::Entry;
use crate::registry::terms::OnFailure;

impl Collection<'_> {
    /// Adds what one contributor said, or does what its policies say.
    pub(super) fn take(&mut self, entry: &Entry, said: Result<Vec<Answer>>, report: &mut Report) -> Result<()> {
        match said {
            Ok(answers) => {
                if let Some(last_good) = &entry.last_good {
                    last_good.remember(self.execution, entry, &answers, self.shared.clock.now());
                }
                for (variable, answer) in entry.declared.variables().iter().zip(answers) {
                    match answer {
                        Answer::Absent => {}
                        Answer::Value(value) => {
                            if let Err(error) = self.push_value(entry, variable, value) {
                                self.fall_back(entry, variable, &error, report)?;
                            }
                        }
                        Answer::Refused(error) => self.fall_back(entry, variable, &error, report)?,
                    }
                }
                Ok(())
            }
            Err(error) => self.fail(entry, error, report),
        }
    }

    /// The contributor as a whole failed: every key that it declared is affected.
    fn fail(&mut self, entry: &Entry, error: Error, report: &mut Report) -> Result<()> {
        // What is the host's own fault, or the caller's wish, no policy for contributors covers.
        let none_affected = entry.declared.variables().is_empty() && entry.terms.on_failure == OnFailure::Fail;
        if error.stage() == Stage::Host || none_affected {
            return Err(error);
        }
        for variable in entry.declared.variables() {
            self.fall_back(entry, variable, &error, report)?;
        }
        report.error = Some(error);
        Ok(())
    }

    /// Does with one key what its policy says.
    fn fall_back(
        &mut self,
        entry: &Entry,
        variable: &DeclaredVariable,
        error: &Error,
        report: &mut Report,
    ) -> Result<()> {
        let policy = entry.terms.on_failure(&variable.key);
        let (mut stands_in, mut age) = (false, None);
        match policy {
            OnFailure::Fail => return Err(error.clone()),
            OnFailure::Omit => {}
            OnFailure::Value(text) if text.contains('\0') => return Err(unusable_stand_in(entry, variable)),
            OnFailure::Value(text) => {
                self.push_value(entry, variable, Value::new(text.as_str(), variable.sensitive))?;
                stands_in = true;
            }
            OnFailure::LastGood(longest) => {
                let now = self.shared.clock.now();
                let kept = entry.last_good.as_ref();
                let kept = kept.and_then(|kept| kept.get(self.execution, &variable.key, *longest, now));
                // One for which there is no room any more is as good as none.
                age = kept.and_then(|(value, age)| self.push_value(entry, variable, value).is_ok().then_some(age));
                stands_in = age.is_some();
            }
        }
        tracing::warn!(key = variable.key.as_str(), policy = policy.as_str(), %error, "degraded");
        self.degraded.push(variable.key.clone());
        let key = variable.key.clone();
        report.affected.push(Affected { key, policy: policy.as_str(), stands_in, age, error: error.clone() });
        Ok(())
    }
}

/// The operator's value for a key is one that no environment can hold.
fn unusable_stand_in(entry: &Entry, variable: &DeclaredVariable) -> Error {
    let key = &variable.key;
    let message = format!(
        "the value that stands in for {key} has a NUL byte, which no environment variable can hold: configure another"
    );
    Error::host(Code::InvalidConfiguration, message).by(entry.declared.name()).about(key)
}
