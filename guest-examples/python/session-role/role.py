"""The rule of `DSH_SESSION_ROLE`, apart so that it can be tested without WebAssembly: `python3 -m doctest role.py`."""


def role(delegation_depth: int | None) -> str | None:
    """The role of a session so many delegations below one that a person started.

    >>> role(0)
    'lead'
    >>> role(2)
    'delegate-2'

    Better absent than guessed:

    >>> role(None)
    """
    if delegation_depth is None:
        return None
    return "lead" if delegation_depth == 0 else f"delegate-{delegation_depth}"
