# make demo    set up, then run the main job on a shipped example
# make test    set up, then lint, types, import contract and all tests
# make bench   set up, then print the measured ratios of benchmarks/
# Every target does all its own set-up and is quick the second time.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready
OUT    := dobandit-out/demo

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_CONSTRAINT := constraints.txt

.PHONY: demo test bench lint docs wheel clean constraints

demo: $(READY)
	@rm -rf $(OUT) && mkdir -p $(OUT)
	$(BIN)/dobandit init --quiet --example shop $(OUT)/shop.toml
	$(BIN)/dobandit check $(OUT)/shop.toml --plot $(OUT)/graph.png
	@echo
	$(BIN)/dobandit sample $(OUT)/shop.toml $(OUT)/log.csv --rows 20000 --seed 1
	$(BIN)/dobandit effect $(OUT)/shop.toml $(OUT)/log.csv --all --truth --plot $(OUT)/effects.png

test: lint
	$(BIN)/python -m pytest -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python benchmarks/policies.py
	$(BIN)/python benchmarks/worlds.py
	$(BIN)/python benchmarks/effects.py

# What README and docs show: the output of their commands, and their pictures (those of the demo).
docs: demo
	cp $(OUT)/graph.png docs/images/shop-graph.png
	cp $(OUT)/effects.png docs/images/shop-effects.png
	$(BIN)/python tests/test_docs.py

wheel: $(READY)
	$(BIN)/python -m build --wheel --no-isolation

# The interpreter is checked first; a Debian machine without the venv module gets it where we are root.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "dobandit needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq python3-venv; } \
	  || { echo "this Python has no venv module: install the package python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[all,test]'
	@touch $@

# Rewrites the pinned versions from what a fresh resolution gives.
constraints:
	rm -rf $(VENV)/resolve && $(PYTHON) -m venv $(VENV)/resolve
	PIP_CONSTRAINT= $(VENV)/resolve/bin/python -m pip install --quiet '.[all,test,bench]' hatchling editables
	echo "# The versions that are tested together; renewed by: make constraints" > constraints.txt
	$(VENV)/resolve/bin/python -m pip freeze --exclude dobandit --exclude pip --exclude setuptools \
	  | grep -v '@' >> constraints.txt
	rm -rf $(VENV)/resolve

clean:
	rm -rf $(VENV) dist build dobandit-out
