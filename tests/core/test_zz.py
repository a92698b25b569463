"""Survey."""
import traceback, collections, os
import pytest
from sqlalchemy import event
from urllib.parse import urlsplit
from app.core.db import db
from tests.support.browser import Browser
from tests.support.clients import ApiClient
from tests.support.instances import reset_database, state_of
from tests.support.writes import WRITES, filled
from tests.catalogue.approvals.test_every_write import forms, pages, guarded  # noqa

pytestmark = pytest.mark.slow

def callers():
    return " < ".join(f"{f.filename.split('/app/')[1]}:{f.lineno}:{f.name}" for f in reversed(traceback.extract_stack()) if "/work/main/app/" in f.filename and not any(s in f.filename for s in ("core/statements","core/db.py","app/web/","core/memo","paging")))

def listen(app, fn):
    with app.app_context(): engine=db.engine
    seen=collections.defaultdict(list); epoch=[0]
    def heard(_c,_k,text,values,*_):
        if text.startswith(("BEGIN","SET")) or "alembic_version" in text: return
        if not text.startswith(("SELECT","WITH RECURSIVE")): epoch[0]+=1; return
        seen[epoch[0],text,repr(values)].append(callers())
    event.listen(engine,"before_cursor_execute",heard)
    try: r=fn()
    finally: event.remove(engine,"before_cursor_execute",heard)
    return r, {k[1]:v for k,v in seen.items() if len(v)>1}

def test_api(app, root, world):
    with app.app_context(): state=state_of(db.engine)
    n=0; out=open("/tmp/m/zz-api.txt","w")
    for method,path,body in WRITES:
        a,d=listen(app,lambda: root.request(method,path.format_map(world),json=filled(body,world)))
        with app.app_context(): reset_database(state)
        if d: n+=1; print("==",method,path,a.status_code,file=out)
        for t,v in d.items():
            print("  ",len(v)," ".join(t.split())[:110], "...", " ".join(t[t.find("FROM"):].split())[:150],file=out)
            for c in v: print("       ",c,file=out)
    print("total",n,file=out); out.close()

def test_forms(app, root, world):
    browser=Browser(app).sign_in("root")
    with app.app_context(): state=state_of(db.engine)
    seen=set(); n=k=0; out=open("/tmp/m/zz-forms.txt","w")
    waiting=[browser.get(p) for p in pages(app, world)]
    for page in waiting:
        for address,button,data in forms(page):
            known=urlsplit(address).path,button
            if known in seen or "sign-out" in address: continue
            seen.add(known); k+=1
            a,d=listen(app,lambda: browser.post(address,data))
            with app.app_context(): reset_database(state)
            if d: n+=1; print("==",address,button,a.status,file=out)
            for t,v in d.items():
                print("  ",len(v)," ".join(t.split())[:110], "...", " ".join(t[t.find("FROM"):].split())[:150],file=out)
                for c in v: print("       ",c,file=out)
    print("total",n,k,file=out); out.close()
