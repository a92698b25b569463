"""Files for the machine that Flagstaff runs on, filled in with its settings."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from flask import current_app

from app.config import Settings


@dataclass(frozen=True, slots=True)
class Example:
    """``title``: what it is; ``template`` is the name of its file, too."""

    title: str
    template: str

    def text(self, settings: Settings) -> str:
        base = urlsplit(settings.base_url)
        template = current_app.jinja_env.get_template(f"examples/{self.template}")
        return template.render(
            base_url=settings.base_url,
            host=base.hostname,
            port=settings.port,
            prefix=settings.url_prefix,
            largest=settings.max_request_bytes,
        )


EXAMPLES = {
    "systemd": Example("A service of systemd, with few rights", "flagstaff.service"),
    "nginx": Example("nginx in front, with TLS", "nginx.conf"),
    "apache": Example("Apache in front, with TLS", "apache.conf"),
    "container": Example("An image for podman or Docker", "Containerfile"),
    "windows": Example("Windows, started with the machine", "windows.ps1"),
}
