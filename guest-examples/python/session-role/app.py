"""A contributor that tells a delegate from its principal: it owns `DSH_SESSION_ROLE`. `role.py` states the rule."""

from role import role
from wit_world import exports
from wit_world.exports.contributor import Binding, Declaration, Execution, Variable

KEY = "DSH_SESSION_ROLE"


class Contributor(exports.Contributor):
    def declare(self) -> Declaration:
        """Asked once, at load: everything this contributor may ever return."""
        return Declaration(
            name="session-role",
            variables=[
                Variable(
                    key=KEY,
                    description="`lead` when a person started the session that runs the command, `delegate-N` when "
                    "agents did, N delegations below such a session. A hint and no credential. Absent without an "
                    "agent, and when the depth is not known.",
                    sensitive=False,
                    metadata=[],
                )
            ],
            metadata=[],
        )

    def resolve(self, execution: Execution) -> list[Binding]:
        """Asked for every shell call, in a fresh instance: what is true now.

        Raising `componentize_py_types.Err("why")` would fail the call; any other exception is a trap.
        """
        value = role(execution.agent.session.delegation_depth) if execution.agent else None
        return [Binding(KEY, value)] if value else []
