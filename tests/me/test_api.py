def test_an_admin_holds_admin_alone(admin):
    assert admin.ok("GET", "/user")["permissions"] == [{"permission": "ADMIN"}]


def test_nobody_is_told_who_a_stranger_is(stranger):
    assert stranger.get("/user").status_code == 401
