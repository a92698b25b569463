# make run    sets everything up and starts Flagstaff at http://127.0.0.1:4242
# make test   sets everything up and runs every check and test

PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check bench soak pins clean

run: .venv/run
	$(BIN)/flagstaff serve

test: check
	$(BIN)/pytest -n auto

check: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/djlint templates --lint --quiet

bench: .venv/test
	$(BIN)/python -m tests.bench
	$(BIN)/python -m tests.bench.growth

soak: .venv/test
	$(BIN)/pytest tests/soak -p no:randomly -s

# The exact versions and hashes of everything that is installed, made anew from pyproject.toml.
pins: .venv/bin/python
	$(BIN)/pip install --quiet pip-tools
	echo 'hatchling>=1.28' | $(BIN)/pip-compile $(COMPILE) -o .pins/build.txt -
	$(BIN)/pip-compile $(COMPILE) -o .pins/run.txt pyproject.toml
	$(BIN)/pip-compile $(COMPILE) --extra dev -o .pins/test.txt pyproject.toml
	$(BIN)/pip-compile $(COMPILE) --extra dist -o .pins/dist.txt pyproject.toml

COMPILE := --quiet --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Flagstaff needs Python 3.11 or newer; set PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/run: .venv/bin/python .pins/build.txt .pins/run.txt pyproject.toml
	$(BIN)/pip install --quiet --require-hashes -r .pins/build.txt -r .pins/run.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

.venv/test: .venv/run .pins/test.txt
	$(BIN)/pip install --quiet --require-hashes -r .pins/test.txt
	touch $@

clean:
	rm -rf .venv build dist *.egg-info
