PYTHON ?= python3
BIN := .venv/bin
# Python keeps what it compiled, whatever the environment says. Otherwise each server of the tests
# would compile all of Flagstaff again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help run test quick check format coverage bench soak dist pins clean

help: ## list these targets
	@echo "make TARGET, where TARGET is one of:"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

run: .venv/run ## set everything up and start Flagstaff at http://127.0.0.1:4242
	$(BIN)/flagstaff serve

test: check .venv/sdks ## run every check and every test
	$(BIN)/pytest -n auto

quick: .venv/test ## run the tests that need neither PostgreSQL nor a browser (2 minutes)
	$(BIN)/pytest -n auto --quick

check: .venv/test ## run the linters and the type checker
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/djlint templates --lint --quiet
	$(BIN)/djlint templates --check --quiet

format: .venv/test ## format code and templates, and fix what can be fixed without a decision
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/djlint templates --reformat --quiet || true # it reports the files it changed as a failure

coverage: .venv/test ## run the tests and report which lines they never reach
	$(BIN)/pytest -n auto --cov --cov-report=term --cov-report=html

bench: .venv/test ## measure speed and memory, also with a million events
	$(BIN)/python -m tests.bench
	$(BIN)/python -m tests.bench.growth

soak: .venv/test ## run the tests that take more than an hour: kills, full disks, load
	$(BIN)/pytest tests/soak -p no:randomly -s

# dist/ gets the wheel, the source, the list of all parts (CycloneDX), and wheels/ for installing
# without an index: for this kind of machine and each Python of PYTHONS, every file with its hash.
PYTHONS := 3.11 3.12 3.13

dist: .venv/dist ## build what you carry to a machine without a network, in dist/
	rm -rf dist build
	$(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	mkdir dist/wheels
	cp dist/*.whl dist/wheels
	for version in $(PYTHONS); do \
		$(BIN)/pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
			--only-binary :all: --python-version $$version --dest dist/wheels -r .pins/run.txt \
			|| exit 1; \
	done
	cp .pins/run.txt dist/wheels/requirements.txt
	printf 'flagstaff==%s %s\n' "$$($(BIN)/flagstaff --version | cut -d" " -f3)" \
		"$$($(BIN)/pip hash dist/*.whl | tail -n 1)" >> dist/wheels/requirements.txt
	$(PYTHON) -m venv build/installed
	build/installed/bin/pip install --quiet --disable-pip-version-check --no-index \
		--find-links dist/wheels --require-hashes -r dist/wheels/requirements.txt
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-file dist/flagstaff.cdx.json build/installed/bin/python
	cd dist && sha256sum *.whl *.tar.gz *.json wheels/* > SHA256SUMS

pins: .venv/bin/python ## renew the exact versions and hashes of all packages, in .pins/
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

.venv/dist: .venv/run .pins/dist.txt
	$(BIN)/pip install --quiet --require-hashes -r .pins/dist.txt
	touch $@

.venv/test: .venv/run .pins/test.txt
	$(BIN)/pip install --quiet --require-hashes -r .pins/test.txt
	touch $@

# What the tests read features with besides Python; without npm they say what they skip.
.venv/sdks: .venv/bin/python tests/sdks/package-lock.json
	if command -v npm >/dev/null; then npm ci --silent --prefix tests/sdks && touch $@; fi

clean: ## delete the virtual environment and everything built; keeps instance/
	rm -rf .venv build dist htmlcov .coverage* *.egg-info tests/sdks/node_modules
