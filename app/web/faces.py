"""What this room shows to the others: the state of the service."""

from app.web.health import api as health_api
from app.web.idempotency import FIRST_ANSWERS
from app.web.rooms import Room

ROOM = Room(
    apis=(health_api.bp,),
    starts=(health_api.init_app,),
    keeps=(FIRST_ANSWERS,),
)
