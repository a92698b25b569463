from wtforms import StringField

from app.catalogue.feature_types import schemas
from app.web.forms import ReasonField, SchemaForm


class LifetimesForm(SchemaForm):
    schema = schemas.Lifetimes

    release = StringField("Lifetime of release features")
    experiment = StringField("Lifetime of experiment features")
    operational = StringField("Lifetime of operational features")
    kill_switch = StringField("Lifetime of kill switches")
    permission = StringField("Lifetime of permission features")
    reason = ReasonField()
