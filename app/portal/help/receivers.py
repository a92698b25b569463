"""Code that verifies messages of webhooks, and hosts to allow, for the help."""

PYTHON = """\
import base64, hmac, time

def verify(secret, headers, body):
    \"""The body is the request’s bytes as they arrived.\"""
    id, sent = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(sent)) > 300:
        raise ValueError("too old")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{id}.{sent}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    found = headers["webhook-signature"].split(" ")
    if not any(hmac.compare_digest(expected, one) for one in found):
        raise ValueError("not from Flagstaff")"""

NODE = """\
import { createHmac, timingSafeEqual } from "node:crypto";

// The body is the request’s bytes as they arrived.
export function verify(secret, headers, body) {
  const id = headers["webhook-id"], sent = headers["webhook-timestamp"];
  if (Math.abs(Date.now() / 1000 - Number(sent)) > 300) throw new Error("too old");
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const digest = createHmac("sha256", key).update(`${id}.${sent}.`).update(body).digest("base64");
  const expected = Buffer.from(`v1,${digest}`);
  const found = headers["webhook-signature"].split(" ").map((one) => Buffer.from(one));
  if (!found.some((one) => one.length === expected.length && timingSafeEqual(one, expected)))
    throw new Error("not from Flagstaff");
}"""

ENTRIES = {
    "hooks.example.com": "https on port 443. All addresses of the host must be public.",
    "hooks.example.com:8443": "The same on another port.",
    "hooks.internal=10.0.0.0/8": "A host whose addresses are all in this network.",
    "http://10.1.2.3:8080": "Without encryption, to this address only.",
}
"""Hosts that FLAGSTAFF_WEBHOOK_HOSTS can name, and what that allows."""
CHANNELS = {
    "ops=slack://TOKEN/TOKEN/TOKEN": "An incoming webhook of Slack.",
    "ops=workflows://HOST/WORKFLOW/SIGNATURE": "A workflow of Microsoft Teams.",
    "ops=mmosts://HOST/TOKEN": "An incoming webhook of Mattermost.",
    "ops=mailtos://USER:PASSWORD@HOST?to=ops@example.com": "A mailbox.",
}
"""Channels that FLAGSTAFF_CHANNELS can name, and where they send."""
RECEIVERS = {"Python": PYTHON, "Node": NODE}
