"""What checks and crawlers read without a token."""


def test_health_answers_checks_that_were_written_for_unleash(app):
    assert app.test_client().get("/health").json == {"health": "GOOD"}
    answer = app.test_client().get("/health?extended=true")
    assert answer.json == {"status": "ok", "health": "GOOD"}


def test_search_engines_are_asked_to_leave_everything_out(app):
    answer = app.test_client().get("/robots.txt")
    assert answer.content_type == "text/plain; charset=utf-8"
    assert answer.text == "User-agent: *\nDisallow: /\n"
