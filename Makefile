PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(PYTHON) .pins/install.py
# Python keeps what it compiled, whatever the environment says. Otherwise each server of the tests
# would compile all of Flagstaff again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help run test quick check style types layers templates format coverage bench soak dist site \
	release pins clean

help: ## list these targets
	@echo "make TARGET, where TARGET is one of:"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

run: ## set everything up and start Flagstaff at http://127.0.0.1:4242
	@$(INSTALL)
	$(BIN)/flagstaff serve

test: check .venv/sdks ## run every check and the tests (10 minutes), on each database by turns
	$(BIN)/pytest -n auto

quick: ## run the short tests of services, API and rules (a minute)
	@$(INSTALL) test
	$(BIN)/pytest -n auto --quick

check: ## run the linters and the type checker
	@$(INSTALL) test
	@$(MAKE) --no-print-directory --jobs=2 --output-sync style types layers templates

style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/mypy
	$(BIN)/mypy docs/help_site.py

layers:
	$(BIN)/lint-imports

templates:
	$(BIN)/djlint templates --lint --quiet
	$(BIN)/djlint templates --check --quiet

format: ## format code and templates, and fix what can be fixed without a decision
	@$(INSTALL) test
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/djlint templates --reformat --quiet || true # it reports the files it changed as a failure

coverage: ## run the tests and report which lines they never reach
	@$(INSTALL) test
	$(BIN)/pytest -n auto --cov --cov-report=term --cov-report=html

bench: ## measure speed and memory, also with a million events
	@$(INSTALL) test
	$(BIN)/python -m tests.bench
	$(BIN)/python -m tests.bench.growth

soak: ## run the tests that take more than an hour: kills, full disks, load
	@$(INSTALL) test
	$(BIN)/pytest tests/soak -p no:randomly -s

# dist/ gets the wheel, the source, the list of all parts (CycloneDX), the versions it was tested with
# (constraints.txt), and wheels/ for installing without an index: for this kind of machine and each
# Python of PYTHONS, every file with its hash.
PYTHONS := 3.11 3.12 3.13 3.14

dist: ## build what you carry to a machine without a network, in dist/
	@$(INSTALL) dist
	rm -rf dist build
	$(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	mkdir dist/wheels
	cp dist/*.whl dist/wheels
	for version in $(PYTHONS); do \
		$(BIN)/pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
			--only-binary :all: --python-version $$version --dest dist/wheels -r .pins/run.txt \
			|| exit 1; \
	done
	sed -n 's/ \\$$//; /==/p' .pins/run.txt > dist/constraints.txt
	cp .pins/run.txt dist/wheels/requirements.txt
	printf 'flagstaff==%s %s\n' "$$($(BIN)/flagstaff --version | cut -d" " -f3)" \
		"$$($(BIN)/pip hash dist/*.whl | tail -n 1)" >> dist/wheels/requirements.txt
	$(PYTHON) -m venv build/installed
	build/installed/bin/pip install --quiet --disable-pip-version-check --no-index \
		--find-links dist/wheels --no-deps --require-hashes -r dist/wheels/requirements.txt
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-file dist/flagstaff.cdx.json build/installed/bin/python
	cd dist && sha256sum *.whl *.tar.gz *.json *.txt wheels/* > SHA256SUMS

release: ## give what is unreleased a version: make release VERSION=1.2.3 commits and tags it
	@$(PYTHON) .ci/release.py $(VERSION)

site: ## write the help as files, to read before installing or to publish, in build/site/
	@$(INSTALL)
	$(BIN)/python docs/help_site.py build/site

pins: ## write the exact versions and hashes of all packages to .pins/; needs uv
	uv pip compile $(COMPILE) --group dev -o .pins/test.txt pyproject.toml
	uv pip compile $(COMPILE) -c .pins/test.txt -o .pins/run.txt pyproject.toml
	uv pip compile $(COMPILE) -c .pins/test.txt --group dist -o .pins/dist.txt pyproject.toml
	$(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' | \
		uv pip compile $(COMPILE) -c .pins/test.txt -o .pins/build.txt -

# One version of each package for every Python and machine; wheels alone, since building a package
# would fetch what no list names.
COMPILE := --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --only-binary :all: --no-header --no-annotate --no-emit-index-url \
	--no-emit-find-links --no-emit-build-options

# What the tests read features with besides Python; without npm they say what they skip.
.venv/sdks: tests/sdks/package-lock.json | check
	if command -v npm >/dev/null; then npm ci --silent --prefix tests/sdks && touch $@; fi

clean: ## delete the virtual environment and everything built; keeps instance/
	rm -rf .venv build dist htmlcov .coverage* *.egg-info tests/sdks/node_modules
