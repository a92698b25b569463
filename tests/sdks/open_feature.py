"""The same with the provider for Python."""

import json
import logging
import sys
from collections.abc import Callable
from typing import Any

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

logging.getLogger("openfeature").setLevel(logging.CRITICAL)
job = json.load(sys.stdin)
headers = {"Authorization": f"Bearer {job['token']}"}
api.set_provider(OFREPProvider(job["url"], headers_factory=lambda: headers))
client = api.get_client()
ASKS: dict[type, Callable[..., Any]] = {
    bool: client.get_boolean_details,
    str: client.get_string_details,
    int: client.get_integer_details,
    float: client.get_float_details,
    dict: client.get_object_details,
}
answers = []
for asked in job["questions"]:
    context = dict(asked["context"])
    user = context.pop("targetingKey", None)
    otherwise = asked["default"]
    found = ASKS[type(otherwise)](asked["key"], otherwise, EvaluationContext(user, context))
    answers.append(
        {
            "value": found.value,
            "variant": found.variant,
            "reason": found.reason,
            "errorCode": found.error_code,
        }
    )
json.dump(answers, sys.stdout)
