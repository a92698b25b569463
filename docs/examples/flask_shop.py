"""A shop with a checkout in one step, for users with the feature checkout.express.

pip install flask UnleashClient
export FLAGSTAFF_URL=http://127.0.0.1:4242/api/ FLAGSTAFF_SDK_TOKEN=…
flask --app flask_shop run
"""

import os

from flask import Flask, request
from UnleashClient import UnleashClient

features = UnleashClient(
    url=os.environ["FLAGSTAFF_URL"],
    app_name="flask-shop",
    custom_headers={"Authorization": os.environ["FLAGSTAFF_SDK_TOKEN"]},
)
features.initialize_client()
app = Flask(__name__)


@app.get("/")
def checkout() -> str:
    user = {"userId": request.args.get("user", "")}
    return "Buy now" if features.is_enabled("checkout.express", user) else "Go to checkout"
