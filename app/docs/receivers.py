"""Code that verifies messages of webhooks, for the help."""

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

RECEIVERS = {"Python": PYTHON, "Node": NODE}
