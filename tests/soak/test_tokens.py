"""Many tokens, many uses of one, and uses after its revocation."""

import asyncio
import secrets
import string
import time
from statistics import median

import sqlalchemy as sa

from app.accounts.tokens.secrets import TokenKind, generate, may_be_one
from app.core.db import db
from tests.support.clients import ApiClient
from tests.support.statements import statements

MADE, MADE_UP = 10_000, 1_000_000
USES = 1_000
CONNECTIONS, REVOCATIONS, PROBES = 16, 40, 1_000
LAST_SECONDS = 0.05
"""After a confirmed revocation, the token reads for no longer."""
LETTERS = string.ascii_letters + string.digits


def test_no_token_is_made_twice_and_no_made_up_one_passes_for_one():
    kinds = (TokenKind.PERSONAL, TokenKind.SERVICE_ACCOUNT)
    made = {generate(kind) for kind in kinds for _ in range(MADE // 2)}
    assert len(made) == MADE
    assert all(may_be_one(token) for token in made)
    passed = sum(
        may_be_one("fst_pat_" + "".join(secrets.choice(LETTERS) for _ in range(49)))
        for _ in range(MADE_UP)
    )
    print(f"made up, of the right form, and passed: {passed} of {MADE_UP:,}")
    assert passed == 0


def test_a_token_in_constant_use_is_noted_once_and_costs_little(app, people):
    client = ApiClient(app, people.token(people.person("ann")))

    def rate() -> float:
        began = time.perf_counter()
        for _ in range(USES):
            assert client.get("/user").status_code == 200
        return USES / (time.perf_counter() - began)

    with statements(app) as seen:
        noting = rate()
    noted = [words for words in seen if words.startswith("UPDATE tokens")]
    with app.app_context(), db.engine.begin() as connection:  # far in the future: never noted
        connection.execute(sa.text("UPDATE tokens SET last_seen_at = '2999-01-01'"))
    without = rate()
    print(f"noted {len(noted)} of {USES} uses; {noting:.0f}/s, without noting {without:.0f}/s")
    assert len(noted) <= 1 + USES / noting / 60


def test_a_revoked_sdk_token_reads_no_more_on_two_servers_of_two_processes(machine, servers):
    machine.settings["PROCESSES"] = "2"
    here, there = servers(2)
    ports = [server.port for server in (here, there) for _ in range(CONNECTIONS // 2)]
    probes, late, lasted = 0, 0, []
    for number in range(REVOCATIONS):
        body = {"tokenName": f"web {number}", "type": "client", "environment": "production"}
        token = here.call("POST", "/api/admin/api-tokens", body).json

        def revoke(id=token["id"]):
            assert here.call("DELETE", f"/api/admin/api-tokens/{id}").status == 200
            return time.monotonic()

        confirmed, answers = asyncio.run(probe(ports, token["secret"], revoke))
        after = [(at - confirmed, status) for at, status in answers if at > confirmed]
        probes += len(after)
        late += sum(status != 401 and seconds > LAST_SECONDS for seconds, status in after)
        lasted.append(max((seconds for seconds, status in after if status != 401), default=0))
    print(f"{late} of {probes} late; read for {median(lasted) * 1_000:.1f} ms, {max(lasted):.3f} s")
    assert probes >= PROBES
    assert late == 0


async def probe(ports, token, revoke):
    """Ask on a connection to each port without a pause, before and after ``revoke``.

    The times and statuses of all answers, and when the revocation was confirmed.
    """
    answers, ended = [], asyncio.Event()

    async def ask(port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"GET /api/client/features HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n\r\n"
        while not ended.is_set():
            writer.write(head.encode())
            told = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(told.partition(b"content-length:")[2].split(maxsplit=1)[0])
            await reader.readexactly(length)
            answers.append((time.monotonic(), int(told.split(maxsplit=2)[1])))
            await asyncio.sleep(0.005)
        writer.close()

    asking = asyncio.gather(*map(ask, ports))
    await asyncio.sleep(0.3)
    confirmed = await asyncio.to_thread(revoke)
    await asyncio.sleep(0.3)
    ended.set()
    await asking
    return confirmed, answers
