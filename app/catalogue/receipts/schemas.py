from typing import Any

from marshmallow import fields

from app.catalogue.receipts.service import MOST_NAMED
from app.catalogue.receipts.states import State
from app.catalogue.receipts.words import MEANINGS
from app.web.schemas import QueryNumber, Schema, Timestamp, WholeNumber

EVENT = {"description": "The id of the event; that of the latest if left out."}


def _number(state: State) -> fields.Field[Any]:
    return fields.Function(
        lambda found: found.counts[state],
        metadata={"type": "integer", "description": MEANINGS[state][0]},
    )


class ReceiptsQuery(Schema):
    event = QueryNumber(low=1, metadata=EVENT)


class EndedQuery(ReceiptsQuery):
    as_of = Timestamp()


class ReceiptsEvent(Schema):
    event = WholeNumber(low=1, metadata=EVENT)


class EndedEvent(ReceiptsEvent):
    as_of = Timestamp(
        metadata={"description": "Only those that were silent then: `asOf` of what you read."}
    )


class EndedRow(Schema):
    ended = fields.Integer(metadata={"description": "How many were marked as ended."})


class WatchedRow(Schema):
    watched = fields.Integer(
        metadata={"description": "How many silent instances you get a notice of."}
    )


class CountsRow(Schema):
    """How many instances are in each state. The total is without those that aren't affected."""

    total = fields.Integer()
    confirmed = _number(State.CONFIRMED)
    sent = _number(State.SENT)
    waiting = _number(State.WAITING)
    silent = _number(State.SILENT)
    cant_tell = _number(State.CANT_TELL)
    not_affected = _number(State.NOT_AFFECTED)
    slowest_seconds = fields.Function(
        lambda found: None if found.slowest is None else found.slowest.total_seconds(),
        metadata={
            "type": ["number", "null"],
            "description": "How long the last that confirmed took, if it is still known.",
        },
    )


class ReceiptRow(Schema):
    app_name = fields.String(attribute="process.application")
    instance_id = fields.String(attribute="process.id")
    sdk_version = fields.String(attribute="process.sdk", allow_none=True)
    state = fields.Enum(State, by_value=True)
    last_seen = Timestamp(attribute="process.last_seen_at")


class ReceiptsOfApplication(CountsRow):
    app_name = fields.String(attribute="application")
    sdk_version = fields.String(attribute="sdk", allow_none=True)
    last_seen = Timestamp(attribute="last_seen_at")


class ReceiptsRow(CountsRow):
    event = fields.Integer(attribute="change.id")
    type = fields.String(attribute="change.type")
    environment = fields.String()
    changed_at = Timestamp(attribute="change.at")
    as_of = Timestamp()
    has_arrived = fields.Boolean(
        metadata={"description": "Whether all that can confirm the change have confirmed it."}
    )
    due_at = Timestamp(
        allow_none=True,
        metadata={"description": "When those that are sent or waiting become silent, if they do."},
    )
    gone = fields.Integer(
        metadata={
            "description": "Instances that were silent for an hour before the change, and aren’t "
            "in the total."
        }
    )
    applications = fields.List(fields.Nested(ReceiptsOfApplication))
    missing = fields.Function(
        lambda receipts: ReceiptRow(many=True).dump(receipts.missing()[:MOST_NAMED]),
        metadata={"description": f"Up to {MOST_NAMED:,} instances that have not confirmed."},
    )


class ArrivalRow(CountsRow):
    """Of the newest change of the environment that affects each instance."""

    app_name = fields.String(attribute="application")
    environment = fields.String()
    behind = fields.Integer(
        metadata={"description": "How many changes the instance lacks that lacks most."}
    )
    has_arrived = fields.Boolean()
    sdks = fields.List(fields.String())
    last_seen = Timestamp(attribute="last_seen_at")


class ArrivalList(Schema):
    applications = fields.List(fields.Nested(ArrivalRow))
