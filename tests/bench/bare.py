"""What is measured against: the least that Flask can do, served as the real application is."""

import logging
import os

import waitress
from flask import Flask

app = Flask(__name__)
app.add_url_rule("/", view_func=lambda: "hello", endpoint="hello")

if __name__ == "__main__":
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    port, threads = os.environ["FLAGSTAFF_PORT"], os.environ["FLAGSTAFF_THREADS"]
    waitress.serve(
        app, host="127.0.0.1", port=port, threads=threads, ident=None, asyncore_use_poll=True
    )
