from tests.releases.plans.test_program import *
from tests.releases.plans import test_program
def test_mut(machine, start, sdks, monkeypatch):
    def other(share):
        s = step(share); s["strategies"][0]["parameters"]["groupId"] = f"g{share}"; return s
    monkeypatch.setattr(test_program, "step", other)
    with pytest.raises(AssertionError) as e:
        test_program.test_nobody_who_has_the_feature_loses_it_on_the_way(machine, start, sdks)
    print(str(e.value)[:300])
