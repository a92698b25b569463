from flask import flash, render_template, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.environments import service as environments
from app.catalogue.projects import service as projects
from app.core.paging import Page
from app.core.permissions import Permission
from app.delivery.webhooks import schemas, service, traffic
from app.delivery.webhooks.forms import (
    NEW,
    NewWebhookForm,
    Offered,
    WebhookForm,
    display_values,
    form_data,
)
from app.delivery.webhooks.models import DeliveryStatus, Webhook
from app.delivery.webhooks.service import Allowed, IssuedSecret
from app.delivery.webhooks.traffic import WebhookView
from app.web import exports
from app.web.browsers import require_password
from app.web.conflicts import EditPage
from app.web.current import current_actor, current_key, current_settings
from app.web.forms import ReasonForm, show_form, submit, submitted
from app.web.listing import PageQuery, read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("webhook_pages", __name__)

ONE = "/webhooks/<id:webhook_id>"
PROJECTS_OFFERED = 100
STATUSES = {status.value: status.value.capitalize() for status in DeliveryStatus}


@bp.get("/webhooks", needs=Permission.ADMIN)
def index() -> ResponseReturnValue:
    """List webhooks, or export them."""
    if exports.wanted():
        return exports.table("webhooks", schemas.WebhookRow(), _search)
    query = read_query(PageQuery)
    return render_template(
        "delivery/webhooks/index.html",
        page=_search(**query.values),
        query=query,
        problems=_problems(),
        allowed=_allowed(),
    )


@bp.form("/new-webhook", needs=Permission.ADMIN)
def new() -> ResponseReturnValue:
    """Create a webhook; only this response shows its secret."""
    require_password("create a webhook")
    form, allowed = NewWebhookForm(_offered(), NEW), _allowed()
    issued = submit(
        form,
        lambda: service.create(current_actor, key=current_key(), allowed=allowed, **form.values),
    )
    if issued is None:
        return show_form("delivery/webhooks/new.html", form, allowed=allowed)
    if issued.webhook.channel is None:
        return _secret_page(issued)
    flash(f"Messages are sent to {issued.webhook.target} from now on. Send a test.", "ok")
    return redirect_to(".show", webhook_id=issued.webhook.id)


@bp.get(ONE, needs=Permission.ADMIN)
def show(webhook_id: int) -> ResponseReturnValue:
    """Show a webhook with its last deliveries."""
    webhook, query = service.get(webhook_id), read_query(schemas.DeliveryQuery)
    found = [one for one in _problems() if one.webhook.id == webhook_id]
    return render_template(
        "delivery/webhooks/show.html",
        webhook=webhook,
        view=traffic.view(webhook),
        problems=found,
        query=query,
        filters=query.in_use({"status": "Status"}, {"status": STATUSES}),
        statuses=STATUSES.items(),
        page=service.deliveries(webhook_id, **query.values),
    )


@bp.get(f"{ONE}/edit", needs=Permission.ADMIN)
def edit(webhook_id: int) -> ResponseReturnValue:
    """Show the settings of a webhook as a form."""
    return _edit(service.get(webhook_id)).show()


@bp.post(f"{ONE}/edit", needs=Permission.ADMIN)
def update(webhook_id: int) -> ResponseReturnValue:
    """Save, unless someone else changed the webhook first: then show what they changed."""
    webhook = service.get(webhook_id, for_change=True)
    require_password(f"change webhook {webhook.name}")
    edit, allowed = _edit(webhook), _allowed()
    return edit.save(
        lambda: service.update(current_actor, webhook, allowed=allowed, **edit.form.values),
        lambda: f"Webhook {webhook.name} saved.",
        redirect_to(".show", webhook_id=webhook_id),
    )


@bp.form(f"{ONE}/rotate", needs=Permission.ADMIN)
def rotate(webhook_id: int) -> ResponseReturnValue:
    """Replace the secret; only this response shows the new one."""
    webhook, form = service.get(webhook_id), ReasonForm()
    require_password(f"rotate the secret of webhook {webhook.name}")

    def replace() -> IssuedSecret:
        found = service.get(webhook_id, for_change=True)
        return service.rotate(current_actor, found, key=current_key())

    issued = submit(form, replace)
    return (
        _secret_page(issued)
        if issued
        else show_form("delivery/webhooks/rotate.html", form, webhook=webhook)
    )


@bp.form(f"{ONE}/delete", needs=Permission.ADMIN)
def remove(webhook_id: int) -> ResponseReturnValue:
    """Delete a webhook, after a page that says what is lost."""
    webhook, form = service.get(webhook_id), ReasonForm()
    view = traffic.view(webhook)
    if submitted(
        form, lambda: service.remove(current_actor, service.get(webhook_id, for_change=True))
    ):
        flash(f"Webhook {webhook.name} deleted.", "ok")
        return redirect_to(".index")
    return show_form("delivery/webhooks/delete.html", form, webhook=webhook, view=view)


@bp.post(f"{ONE}/test", needs=Permission.ADMIN)
def send_test(webhook_id: int) -> Response:
    """Send a test."""
    service.send_test(service.get(webhook_id, for_change=True))
    flash("Test queued. Reload this page in a few seconds to see the answer.", "ok")
    return redirect_to(".show", webhook_id=webhook_id)


@bp.post(f"{ONE}/deliveries/<id:delivery_id>/send-again", needs=Permission.ADMIN)
def send_again(webhook_id: int, delivery_id: int) -> Response:
    """Send a message again."""
    service.send_again(service.get(webhook_id, for_change=True), delivery_id)
    flash("Message queued again. Reload this page in a few seconds to see the answer.", "ok")
    return redirect_to(".show", webhook_id=webhook_id)


def _search(limit: int, offset: int) -> Page[WebhookView]:
    page = service.search(limit=limit, offset=offset)
    return page.of(traffic.views(page.items))


def _problems() -> list[traffic.Problem]:
    return traffic.problems(_allowed())


def _allowed() -> Allowed:
    return Allowed.by(current_settings())


def _offered() -> Offered:
    return Offered(
        projects.names(current_actor, PROJECTS_OFFERED),
        environments.all_names(),
        [*_allowed().channels],
    )


def _edit(webhook: Webhook) -> EditPage[WebhookForm]:
    data = form_data(webhook)
    return EditPage(
        f"webhook {webhook.id}",
        "delivery/webhooks/edit.html",
        WebhookForm(_offered(), data),
        data,
        lambda: {"webhook": webhook},
        describe=display_values,
    )


def _secret_page(issued: IssuedSecret) -> str:
    webhook = issued.webhook
    back = url_for(".show", webhook_id=webhook.id)
    return render_template(
        "delivery/webhooks/secret.html", webhook=webhook, secret=issued.secret, back=back
    )
