"""What the OpenAPI document says of the addresses for SDKs, which no blueprint serves."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple

from app.core.permissions import Access
from app.core.words import camel_case
from app.delivery.sdk.client import CLIENT, DELTA, FEATURES, STREAMING, VALIDATE
from app.delivery.sdk.frontend import FRONTEND
from app.delivery.sdk.ofrep import FLAGS
from app.delivery.sdk.ofrep_streams import CONFIG_ETAG, STREAM_PATH
from app.delivery.sdk.schemas import (
    FrontendContext,
    FrontendFeatures,
    OfrepChange,
    OfrepContext,
    OfrepError,
    OfrepFlag,
    OfrepFlags,
    SdkBulkMetrics,
    SdkDelta,
    SdkFeature,
    SdkFeatures,
    SdkMetrics,
    SdkRegistration,
    SentTokens,
    ValidTokens,
)
from app.web.openapi import Outside
from app.web.schemas import Schema

TAG = "SDKs"
FOR_ALL = Access.PUBLIC.value
FOR_SDKS = "an SDK token"
FOR_CLIENTS = "an SDK token of the type client"
FOR_BROWSERS = "an SDK token of the type frontend"
BY_ADDRESS = "an address from an answer about all features"

_CHOICE = {
    "project": "Only features of this project.",
    "namePrefix": "Only features whose names begin with this.",
    "tag": "Only features with this tag: `type:value`.",
}
_IN_ADDRESS = {
    "userId": "A field of the context. Any other can stand beside it: `properties[country]`."
}
_AT_LEAST = {CONFIG_ETAG: "The `etag` of an event: the answer is at least as new as this."}
_SIGNED = {"token": "As `eventStreams` has it. Valid for one to two hours."}
_REGISTRATION = {
    "appName": "web-shop",
    "instanceId": "host-1",
    "sdkVersion": "unleash-node-sdk:6.6.0",
    "strategies": ["flexibleRollout"],
    "started": "2026-11-28T09:30:00Z",
    "interval": 15_000,
}
_METRICS = {
    "appName": "web-shop",
    "instanceId": "host-1",
    "bucket": {
        "start": "2026-11-28T09:30:00Z",
        "stop": "2026-11-28T09:31:00Z",
        "toggles": {"checkout": {"yes": 3, "no": 1, "variants": {}}},
    },
}
_COUNT = {
    "appName": "web-shop",
    "environment": "production",
    "featureName": "checkout",
    "timestamp": "2026-11-28T09:00:00Z",
    "yes": 3,
    "no": 1,
}
BODIES: Mapping[type[Schema], Any] = {
    SdkRegistration: _REGISTRATION,
    SdkMetrics: _METRICS,
    SdkBulkMetrics: {"applications": [_REGISTRATION], "metrics": [_COUNT]},
    FrontendContext: {"context": {"userId": "42", "properties": {"country": "NO"}}},
    OfrepContext: {"context": {"targetingKey": "42", "country": "NO"}},
    SentTokens: {"tokens": ["*:production.fst_sdk_0000"]},
}
"""With an example of each."""


class _Address(NamedTuple):
    """``answer``: the schema of a 200, or the status of an answer without a body.

    ``is_stream``: the response stays open, and ``answer`` is the data of its events.
    """

    method: str
    path: str
    summary: str
    needs: str
    answer: type[Schema] | int
    body: type[Schema] | None = None
    query: Mapping[str, str] = MappingProxyType({})
    is_stream: bool = False

    def described(self) -> dict[str, Any]:
        status, body = (self.answer, None) if isinstance(self.answer, int) else (200, self.answer)
        answered: dict[str, Any] = {"description": HTTPStatus(status).phrase}
        if body is not None:
            kind = "text/event-stream" if self.is_stream else "application/json"
            answered["content"] = {kind: {"schema": body}}
        words = re.findall(r"\w+", f"{self.method}{self.path.replace('key:', '')}")
        found: dict[str, Any] = {
            "operationId": camel_case("_".join(words)),
            "summary": self.summary,
            "tags": [TAG],
            "x-needs": self.needs,
            "parameters": [
                {"name": name, "in": "query", "schema": {"type": "string"}, "description": about}
                for name, about in self.query.items()
            ],
            "responses": {status: answered} | self._refusals(),
        }
        if self.needs in {FOR_ALL, BY_ADDRESS}:
            found["security"] = []
        if self.body is not None:
            content = _json(self.body, example=BODIES[self.body])
            found["requestBody"] = {"required": True, "content": content}
        return found

    def _refusals(self) -> dict[int, Any]:
        statuses = {HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE}
        if self.needs != FOR_ALL:
            statuses |= {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
        if self.body is not None:
            statuses |= {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}
        if "<" in self.path:
            statuses |= {HTTPStatus.NOT_FOUND}
        if self.is_stream:
            statuses |= {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.NOT_IMPLEMENTED}
        refusals: dict[int, Any] = {status.value: status.name for status in sorted(statuses)}
        if self.body is OfrepContext:
            error = {"description": "The code says why.", "content": _json(OfrepError)}
            refusals |= {status: error for status in (400, 404, 413) if status in refusals}
        return refusals


def _json(schema: type[Schema], **more: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema, **more}}


_FEATURE, _FLAG = f"{FEATURES}/<key:name>", f"{FLAGS}/<key:name>"
_STARTS, _COUNTS = "Report that an application runs", "Report how often features were on"
ADDRESSES = [
    _Address(
        "get",
        FEATURES,
        "List features with their strategies",
        FOR_CLIENTS,
        SdkFeatures,
        None,
        _CHOICE,
    ),
    _Address("get", _FEATURE, "Read a feature with its strategies", FOR_CLIENTS, SdkFeature),
    _Address("get", DELTA, "List what has changed", FOR_CLIENTS, SdkDelta, None, _CHOICE),
    _Address(
        "get",
        STREAMING,
        "Receive changes as they happen",
        FOR_CLIENTS,
        SdkDelta,
        None,
        _CHOICE,
        is_stream=True,
    ),
    _Address("post", f"{CLIENT}/register", _STARTS, FOR_CLIENTS, 202, SdkRegistration),
    _Address("post", f"{CLIENT}/metrics", _COUNTS, FOR_CLIENTS, 202, SdkMetrics),
    _Address(
        "post",
        f"{CLIENT}/metrics/bulk",
        "Report for applications",
        FOR_CLIENTS,
        202,
        SdkBulkMetrics,
    ),
    _Address("get", FRONTEND, "List what is on", FOR_BROWSERS, FrontendFeatures, None, _IN_ADDRESS),
    _Address("post", FRONTEND, "List what is on", FOR_BROWSERS, FrontendFeatures, FrontendContext),
    _Address("post", f"{FRONTEND}/client/register", _STARTS, FOR_BROWSERS, 200, SdkRegistration),
    _Address("post", f"{FRONTEND}/client/metrics", _COUNTS, FOR_BROWSERS, 200, SdkMetrics),
    _Address("post", FLAGS, "Evaluate all features", FOR_SDKS, OfrepFlags, OfrepContext, _AT_LEAST),
    _Address("post", _FLAG, "Evaluate a feature", FOR_SDKS, OfrepFlag, OfrepContext),
    _Address(
        "get",
        STREAM_PATH,
        "Receive a notice of each change",
        BY_ADDRESS,
        OfrepChange,
        None,
        _SIGNED,
        is_stream=True,
    ),
    _Address("post", VALIDATE, "List the valid ones of tokens", FOR_ALL, ValidTokens, SentTokens),
]


DESCRIBED = Outside(
    TAG,
    "What SDKs and Unleash Edge send. Unknown fields are ignored.",
    lambda: [(each.path, {each.method: each.described()}) for each in ADDRESSES],
)
