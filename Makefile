# make run    sets everything up and starts Flagstaff at http://127.0.0.1:4242
# make test   sets everything up and runs every check and test
# make dist   makes in dist/ what is carried to a machine without network

PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check bench soak dist pins clean

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

# The wheel, the source, the list of all parts (CycloneDX), and wheels/ to install from without an
# index: for this kind of machine and each Python of PYTHONS, every file with its hash.
PYTHONS := 3.11 3.12 3.13

dist: .venv/dist
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

.venv/dist: .venv/run .pins/dist.txt
	$(BIN)/pip install --quiet --require-hashes -r .pins/dist.txt
	touch $@

.venv/test: .venv/run .pins/test.txt
	$(BIN)/pip install --quiet --require-hashes -r .pins/test.txt
	touch $@

clean:
	rm -rf .venv build dist *.egg-info
