"""What works of Unleash’s Terraform provider, for the help. A test sends what that sends."""

from enum import StrEnum


class Act(StrEnum):
    CREATE = "create"
    READ = "read"
    CHANGE = "change"
    DELETE = "delete"


RESOURCES: dict[str, tuple[Act, ...]] = {
    "unleash_api_token": (Act.CREATE, Act.CHANGE, Act.DELETE),
    "unleash_context_field": tuple(Act),
    "unleash_environment": (Act.CREATE, Act.READ),
    "unleash_group": (),
    "unleash_oidc": (),
    "unleash_project": (Act.READ,),
    "unleash_project_access": (Act.DELETE,),
    "unleash_project_environment": (Act.READ,),
    "unleash_role": (),
    "unleash_saml": (),
    "unleash_service_account": (Act.CREATE, Act.READ, Act.DELETE),
    "unleash_service_account_token": (Act.CREATE, Act.CHANGE, Act.DELETE),
    "unleash_user": tuple(Act),
}
"""What can be done to each resource."""


def outcomes() -> dict[str, str]:
    """For each resource, in words, what works."""
    return {
        name: "All of it" if set(works) == set(Act) else ", ".join(works).capitalize() or "Nothing"
        for name, works in RESOURCES.items()
    }
