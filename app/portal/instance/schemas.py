from app.web.schemas import Schema, StrictBoolean


class MaintenanceMode(Schema):
    enabled = StrictBoolean(required=True)
