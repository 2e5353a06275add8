//! The simplest contributor, to be copied: it owns `DSH_DEPLOYMENT_REGION`, which is `cn-north` when an agent runs
//! the command, and absent otherwise.

mod bindings {
    wit_bindgen::generate!({ path: "../../../wit", world: "shell-env-contributor" });
}

use bindings::exports::dsh::shell_env::contributor::{Binding, Declaration, Execution, Guest, Variable};

const KEY: &str = "DSH_DEPLOYMENT_REGION";

struct DeploymentRegion;

impl Guest for DeploymentRegion {
    /// Asked once, at load: everything this contributor may ever return.
    fn declare() -> Declaration {
        Declaration {
            name: "deployment-region".into(),
            variables: vec![Variable {
                key: KEY.into(),
                description: "Region that this agent's deployments go to, such as `cn-north`. A hint and no \
                              credential: it gives access to nothing, and a command may override it. Absent when no \
                              agent owns the command."
                    .into(),
                sensitive: false,
                metadata: vec![],
            }],
            metadata: vec![],
        }
    }

    /// Asked for every shell call, in a fresh instance: what is true now. An error message would fail the call.
    fn resolve(execution: Execution) -> Result<Vec<Binding>, String> {
        match region(&execution) {
            Some(value) => Ok(vec![Binding { key: KEY.into(), value: value.into() }]),
            None => Ok(vec![]),
        }
    }
}

fn region(execution: &Execution) -> Option<&'static str> {
    execution.agent.is_some().then_some("cn-north")
}

// Only where there is a host to export to: other linkers refuse the names.
#[cfg(target_family = "wasm")]
bindings::export!(DeploymentRegion with_types_in bindings);

#[cfg(test)]
mod tests {
    use super::bindings::exports::dsh::shell_env::contributor::{Agent, SessionHeader};
    use super::*;

    fn execution(agent: Option<Agent>) -> Execution {
        Execution {
            call_id: "call-1".into(),
            root_call_id: "call-1".into(),
            tool: "bash".into(),
            workdir: None,
            background: false,
            agent,
            extensions: vec![],
        }
    }

    fn agent() -> Agent {
        Agent {
            session: SessionHeader {
                id: "session-1".into(),
                created_at: None,
                cwd: None,
                parent_session: None,
                origin: None,
                delegation_depth: None,
            },
        }
    }

    fn resolved(agent: Option<Agent>) -> Vec<(String, String)> {
        let bindings = DeploymentRegion::resolve(execution(agent));
        bindings.into_iter().flatten().map(|binding| (binding.key, binding.value)).collect()
    }

    #[test]
    fn an_agents_commands_get_the_region() {
        assert_eq!(resolved(Some(agent())), [("DSH_DEPLOYMENT_REGION".into(), "cn-north".into())]);
    }

    #[test]
    fn a_command_without_an_agent_gets_nothing() {
        assert_eq!(resolved(None), []);
    }
}
