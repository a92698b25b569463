"""Example files for the server, filled in with its settings."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, select_autoescape

from app.core.config import Settings
from app.core.files import TEMPLATES

_TEMPLATES = Environment(
    loader=FileSystemLoader(TEMPLATES / "portal/help/examples"),
    autoescape=select_autoescape(),
    trim_blocks=True,
)


@dataclass(frozen=True, slots=True)
class Example:
    """``template``: the file in templates/portal/help/examples, and the name to save it as."""

    title: str
    template: str

    def text(self, settings: Settings) -> str:
        base = urlsplit(settings.base_url)
        return _TEMPLATES.get_template(self.template).render(
            base_url=settings.address(),
            host=base.hostname,
            port=settings.port,
            prefix=settings.url_prefix,
            largest=settings.max_request_bytes,
        )


EXAMPLES = {
    "systemd": Example("systemd service with few rights", "flagstaff.service"),
    "nginx": Example("nginx as a proxy with TLS", "nginx.conf"),
    "apache": Example("Apache as a proxy with TLS", "apache.conf"),
    "container": Example("Image for Podman or Docker", "Containerfile"),
    "windows": Example("Windows task that starts with the machine", "windows.ps1"),
}
