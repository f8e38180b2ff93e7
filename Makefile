# make demo    set up, then run the main job on a shipped example
# make test    set up, then lint, types, import contract and all tests
# make test-all   the tests on a wheel, with every Python from 3.11 to 3.13 that is installed
# make cluster   set up Spark and Dask on this machine, then test frames and simulations on them
# make bench   set up, then measure the figures of benchmarks/ and print them beside their goals
# make reproduction   set up, then rerun the paper's experiments and write docs/reproduction.md
# make stress  set up, then attack studies in all ways: kills, faults, malformed inputs, flipped bits; prints one table
# make calibration   set up, then compare what studies say with the truth and write docs/how-sure.md
# make mutants   set up, then change single things in the code and print how many changes the tests detect
# make docs-check   set up, then only what runs README, docs and notebooks; a part of make test
# make migrations   install DoWhy and pgmpy beside, then run their code in docs/
# make audit   look the pinned versions up in the advisories of PyPI
# make site    set up, then build the documentation into site/
# make benchmark   set up, then run the policies on all benchmark worlds and write docs/benchmark.md
# Every target does all its own set-up and is quick the second time.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
USABLE := $(VENV)/usable
READY  := $(VENV)/ready
OUT    := dobandit-out/demo
# Debian's packages, where we are root; at this run level no server is started.
INSTALL := [ "$$(id -u)" = 0 ] && apt-get update -qq && RUNLEVEL=1 apt-get install -y -qq

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_CONSTRAINT := constraints.txt

.PHONY: cluster demo site programs audit test test-all test-wheel stress mutants bench calibration benchmark reproduction lint docs wheel clean constraints

demo: $(USABLE)
	@rm -rf $(OUT) && mkdir -p $(OUT)
	$(BIN)/dobandit init --quiet --example shop $(OUT)/shop.toml
	$(BIN)/dobandit check $(OUT)/shop.toml
	@echo
	$(BIN)/dobandit run $(OUT)/shop.toml --policy all --trials 200 --budget 150 --budget 300 --budget 600 --out $(OUT)
	$(BIN)/python -m dobandit.examples.simulated $(OUT)/shop.toml $(OUT)/shop.db
	@echo
	@echo "$(OUT)/shop.db is a study of the shop with a hundred simulated outcomes. Look at it in a browser:"
	@echo "  $(BIN)/dobandit serve $(OUT)"

test: lint programs
	$(BIN)/python -m pytest -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Programs of others that the service is tested with: pages in a real browser, and the examples of
# docs/tutorial-team.md in R and behind a proxy. Debian has them; elsewhere they have to be installed by hand.
programs:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null \
	  || { $(INSTALL) chromium > /dev/null; } \
	  || echo "LEFT OUT: THE TESTS OF THE PAGES IN A BROWSER. There is no Chromium here: install the package chromium"
	@Rscript -e 'library(httr2); library(jsonlite)' > /dev/null 2>&1 \
	  || { $(INSTALL) --no-install-recommends r-base-core r-cran-httr2 r-cran-jsonlite > /dev/null; } \
	  || echo "LEFT OUT: THE TEST OF THE EXAMPLE IN R. Install R and its package httr2 (r-base-core r-cran-httr2 r-cran-jsonlite)"
	@{ [ -x /usr/sbin/nginx ] || command -v nginx > /dev/null; } && command -v openssl > /dev/null \
	  || { $(INSTALL) --no-install-recommends nginx-light openssl > /dev/null; } \
	  || echo "LEFT OUT: THE TEST OF THE SERVICE BEHIND A PROXY. Install the packages nginx-light and openssl"

# Frames of a real Spark and of a real Dask cluster, and simulations there; Spark needs Java.
cluster: $(READY)
	@command -v java > /dev/null || { $(INSTALL) --no-install-recommends default-jre-headless > /dev/null; } \
	  || { echo "Spark needs Java: install the package default-jre-headless, or any Java from 17 on"; exit 1; }
	$(BIN)/python -m pip install --quiet --editable '.[cluster]'
	DOBANDIT_CLUSTER=1 $(BIN)/python -m pytest tests/test_evidence.py tests/test_missing.py tests/test_names_everywhere.py \
	  -k "dask or spark or takes_for"
	$(BIN)/python -m pytest tests/test_dask.py

# Other attacks: make stress STRESS='--seed 7 --minutes 60 kills flips'
stress: $(READY)
	@command -v strace > /dev/null || { $(INSTALL) strace > /dev/null; } \
	  || echo "LEFT OUT: THE FAULTS AT SYSTEM CALLS. Install the package strace"
	$(BIN)/python -m tests.stress $(STRESS)

# The code of DoWhy and pgmpy in docs/, with their newest versions: a gigabyte, so not a part of the tests.
migrations:
	$(PYTHON) -m venv $(VENV)/migrations
	PIP_CONSTRAINT= $(VENV)/migrations/bin/python -m pip install --quiet . dowhy pgmpy
	$(VENV)/migrations/bin/python -W ignore -m tests.migrations

# What README, pages and notebooks show, and the site; a part of `make test`.
docs-check: $(READY)
	$(BIN)/python -m pytest -n 2 tests/test_docs.py tests/test_notebooks.py tests/test_site.py tests/test_voice.py \
	  tests/service/test_team_page.py README.md CONTRIBUTING.md docs

# Known weaknesses of the pinned versions; it needs the advisories of PyPI.
audit:
	$(PYTHON) -m venv $(VENV)/audit
	PIP_CONSTRAINT= $(VENV)/audit/bin/python -m pip install --quiet pip-audit
	$(VENV)/audit/bin/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

# Another sample: make mutants MUTANTS='--seed 7 --number 600'
mutants: $(READY)
	$(BIN)/python -m tests.mutants $(MUTANTS)

bench: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python benchmarks/all.py
	$(BIN)/python benchmarks/coverage.py --trials 100

# Writes docs/how-sure.md: what studies say against the truth of simulated worlds; then the intervals of `effect`.
calibration: $(READY)
	$(BIN)/python benchmarks/calibration.py
	$(BIN)/python benchmarks/coverage.py
	$(BIN)/python benchmarks/confounded_answers.py
	$(BIN)/python benchmarks/confounded_means.py
	DOBANDIT_BOUNDS=300 $(BIN)/python -m pytest -q tests/test_agreeing.py

# Writes docs/reproduction.md and its pictures: the paper's thirteen panels beside its published curves.
reproduction: $(READY)
	$(BIN)/dobandit reproduce --page docs/reproduction.md

# Writes docs/benchmark.md: ours against all others on the worlds of `dobandit suite`.
benchmark: $(READY)
	$(BIN)/python benchmarks/page.py

# What README and docs show: the output of their commands, and their pictures.
docs: $(READY) demo
	cp $(OUT)/regret.png docs/images/shop-regret.png
	$(BIN)/dobandit check $(OUT)/shop.toml --quiet --plot docs/images/shop-graph.png > /dev/null
	$(BIN)/dobandit sample $(OUT)/shop.toml $(OUT)/log.csv --quiet --rows 20000 --seed 1
	$(BIN)/dobandit effect $(OUT)/shop.toml $(OUT)/log.csv --quiet --all --truth --plot docs/images/shop-effects.png > /dev/null
	$(BIN)/dobandit sample $(OUT)/shop.toml $(OUT)/short-log.csv --quiet --rows 5000 --seed 1
	$(BIN)/dobandit plan $(OUT)/shop.toml --evidence $(OUT)/short-log.csv --quiet --plot docs/images/plan.png > /dev/null
	$(BIN)/python docs/screenshots.py $(OUT)
	$(BIN)/python docs/figures.py
	$(BIN)/python docs/files/make_members.py
	$(BIN)/python -m tests.notebooks
	$(BIN)/python tests/test_docs.py

# Pages and reference in one folder, which can be opened from the disk; browsers allow the search only on a web server.
# Warnings are errors.
site: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "open site/index.html; with search: $(BIN)/python -m http.server --directory site, then http://localhost:8000"

wheel: $(READY)
	$(BIN)/python -m build --wheel --no-isolation

# The interpreter is checked first; a Debian machine without the venv module gets it where we are root.
$(USABLE): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "dobandit needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq python3-venv; } \
	  || { echo "this Python has no venv module: install the package python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	@touch $@

# What tests and documentation need besides.
$(READY): $(USABLE)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

# Quicker: make test-all TESTS=tests/test_graph.py. An interpreter is one that starts: on the path, or in pyenv's folder.
# What was not tested is the last line, and nothing at all tested is a failure.
TESTS ?= tests
PYENV_ROOT ?= $(HOME)/.pyenv
test-all: $(READY)
	rm -f dist/*.whl
	$(BIN)/python -m build --wheel --no-isolation > /dev/null
	@tested=; skipped=; \
	for version in 3.11 3.12 3.13; do \
	  found=; \
	  for python in python$$version $(PYENV_ROOT)/versions/$$version.*/bin/python; do \
	    [ -n "$$found" ] || ! "$$python" -c 'import ensurepip, venv' 2> /dev/null || found=$$python; done; \
	  if [ -z "$$found" ]; then skipped="$$skipped $$version"; continue; fi; \
	  $(MAKE) --no-print-directory test-wheel PYTHON="$$found" VENV=.venv-$$version || exit 1; \
	  tested="$$tested $$version"; done; \
	echo "TESTED ON THE WHEEL WITH PYTHON:$${tested:- none}. SKIPPED, NOT INSTALLED HERE:$${skipped:- none}. TESTS: $(TESTS)"; \
	[ -n "$$tested" ]

# The package must come from the wheel, not from src beside it.
test-wheel:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps "$$(ls dist/dobandit-*.whl)"
	$(BIN)/python -m pip install --quiet "$$(ls dist/dobandit-*.whl)[all,test]"
	PYTHONPATH= $(BIN)/python -c 'import dobandit, sys; assert "site-packages" in dobandit.__file__; print("Python", sys.version)'
	PYTHONPATH= $(BIN)/python -m pytest -n 2 $(TESTS)

# Rewrites the pinned versions from what a fresh resolution gives.
constraints:
	rm -rf $(VENV)/resolve && $(PYTHON) -m venv $(VENV)/resolve
	PIP_CONSTRAINT= $(VENV)/resolve/bin/python -m pip install --quiet '.[all,test,bench,cluster]' hatchling editables
	echo "# The versions that are tested together; renewed by: make constraints" > constraints.txt
	$(VENV)/resolve/bin/python -m pip freeze --exclude dobandit --exclude pip --exclude setuptools \
	  | grep -v '@' >> constraints.txt
	rm -rf $(VENV)/resolve

clean:
	rm -rf $(VENV) .venv-3.* dist build site dobandit-out
