"""Example files for the server, filled in with its settings."""

from dataclasses import dataclass
from importlib.metadata import version
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, select_autoescape

from app.core.config import Settings, every_setting
from app.core.files import TEMPLATES

_TEMPLATES = Environment(
    loader=FileSystemLoader([TEMPLATES / "portal/help/examples", TEMPLATES.parent / "docker"]),
    autoescape=select_autoescape(),
    trim_blocks=True,
)


@dataclass(frozen=True, slots=True)
class Example:
    """``template``: the file in templates/portal/help/examples or docker/."""

    title: str
    template: str

    def text(self, settings: Settings) -> str:
        base = urlsplit(settings.base_url)
        return _TEMPLATES.get_template(self.template).render(
            base_url=settings.address(),
            scheme=base.scheme,
            target=base.netloc,
            host=base.hostname,
            port=settings.port,
            prefix=settings.url_prefix,
            largest=settings.max_request_bytes,
            settings=every_setting(),
            version=version("flagstaff"),
        )


EXAMPLES = {
    "systemd": Example("systemd service with few rights", "flagstaff.service"),
    "nginx": Example("nginx as a proxy with TLS", "nginx.conf"),
    "apache": Example("Apache as a proxy with TLS", "apache.conf"),
    "timer": Example("systemd timer for a backup every night", "flagstaff-backup.timer"),
    "container": Example("Image for Docker, Podman or Kubernetes", "Dockerfile"),
    "env": Example("All settings, to be filled in", "settings.env"),
    "kubernetes": Example("Kubernetes, with PostgreSQL", "kubernetes.yaml"),
    "alerts": Example("Alerts of Prometheus", "alerts.yaml"),
    "grafana": Example("Dashboard of Grafana", "grafana.json"),
    "windows": Example("Windows task that starts with the machine", "windows.ps1"),
}
