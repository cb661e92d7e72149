# The dev loop; `make help` lists it. Programs land in build/<type>/, fetched test clients in build/deps/, data in run/.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory -s

JOBS ?= 2
CC := clang-19
CXX := clang++-19
DEPS := build/deps
JAVA_STAMP := $(DEPS)/java/.stamp
KAFKA_STAMP := $(DEPS)/kafka/.stamp
VENV_STAMP := $(DEPS)/venv/.stamp
CLIENTS_STAMP := $(DEPS)/clients/.stamp
KAFKA_CLIENTS_JAR := $(CURDIR)/$(DEPS)/java/kafka-clients-4.4.0.jar
BROKER := broker/app/braid-broker
PYTHON := $(DEPS)/venv/bin/python3
SEED ?= 1
SIM_SEEDS ?= 300
SIM_CLUSTER_SEEDS ?= 200
SIM_ARGS = --seed $(SEED) --seeds $(SIM_SEEDS)
FUZZ_SECONDS ?= 60
CHAOS_SECONDS ?= 600
BENCH_ARGS ?=
PEERS_ARGS ?=
RELEASE_TARGETS ?= braid-broker
# What runs on more than one thread; the rest is single-threaded by design and simulated as such.
TSAN_SUITES ?= admin braid io k8s net runtime storage wal
# What turns raw bytes into objects: with the checks that the debug build leaves out for the sake of its build time.
UBSAN_SUITES ?= base model protocol wal
empty :=
space := $(empty) $(empty)

configure = CC=$(CC) CXX=$(CXX) cmake --log-level=NOTICE -S . -B $@ -G Ninja -DBRAID_KAFKA_CLIENTS_JAR=$(KAFKA_CLIENTS_JAR)

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- Set-up -----------------------------------------------------------------------------------------------------------

.PHONY: deps deps-quickstart
deps: ## Install Debian packages, fetch the Java, Python, Go and Node clients of the tests
	@cmake/install-packages.sh cmake/packages.txt cmake/packages-clients.txt cmake/packages-dev.txt cmake/packages-kubernetes.txt
	@$(MAKE) $(JAVA_STAMP) $(VENV_STAMP) $(CLIENTS_STAMP)

deps-quickstart:
	@cmake/install-packages.sh cmake/packages.txt cmake/packages-clients.txt
	@$(MAKE) $(JAVA_STAMP)

# $(call fetch_jars,WHAT): what the pom.xml names, beside the stamp.
define fetch_jars
	@echo "$(1): fetching into $(@D)"
	@rm -rf $(@D)
	@mvn -q -B -Dstyle.color=never -f $< org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
	  -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(@D)
	@touch $@
endef

$(JAVA_STAMP): tests/integration/java/pom.xml
	$(call fetch_jars,java clients)

# Apache Kafka itself, to be compared with: only for targets that start it.
$(KAFKA_STAMP): tests/kafka/pom.xml
	$(call fetch_jars,apache kafka)

# Debian's interpreter, where there is one: a version manager's shim may vanish under the venv.
$(VENV_STAMP): tests/integration/requirements.txt
	@echo "python clients: fetching into $(DEPS)/venv"
	@rm -rf $(DEPS)/venv && mkdir -p $(DEPS)
	@python=/usr/bin/python3; [ -x $$python ] || python=python3; $$python -m venv $(DEPS)/venv
	@$(DEPS)/venv/bin/pip install -q -r $<
	@touch $@

CLIENTS := tests/integration/clients.sh
$(CLIENTS_STAMP): $(CLIENTS) $(wildcard tests/integration/go/* tests/integration/go/*/*.go) $(wildcard tests/integration/node/*.json)
	@echo "go and node clients: fetching into $(DEPS)/clients"
	@$(CLIENTS) $(DEPS)/clients
	@touch $@

# --- Build ------------------------------------------------------------------------------------------------------------
# Ninja configures again by itself when a CMakeLists.txt changes; these rules only make a build folder once.

build/debug: ; @$(configure) -DCMAKE_BUILD_TYPE=Debug -DBRAID_ASAN=ON
build/release: ; @$(configure) -DCMAKE_BUILD_TYPE=RelWithDebInfo
build/tsan: ; @$(configure) -DCMAKE_BUILD_TYPE=Debug -DBRAID_TSAN=ON
build/ubsan: ; @$(configure) -DCMAKE_BUILD_TYPE=Debug -DBRAID_ASAN=ON -DBRAID_UBSAN_ALL=ON
build/fuzz: ; @$(configure) -DCMAKE_BUILD_TYPE=Debug -DBRAID_ASAN=ON -DBRAID_FUZZ=ON
build/bench: ; @$(configure) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBRAID_BENCH=ON

# A configuration that failed leaves a folder without build.ninja behind; it must not pass for a good one.
%/build.ninja:
	@command -v $(CXX) >/dev/null || { echo "$(CXX) is missing: run \`make deps\` first" >&2; exit 1; }
	@$(MAKE) -B $(@D)
.PRECIOUS: %/build.ninja

.PHONY: build release
build: build/debug/build.ninja ## Debug build with ASan and UBSan in build/debug (the default)
	@ninja -C build/debug -j$(JOBS)

release: build/release/build.ninja ## Optimised broker in build/release
	@ninja -C build/release -j$(JOBS) $(RELEASE_TARGETS)

# --- Check ------------------------------------------------------------------------------------------------------------

.PHONY: test integration chaos chaos-peer sim sim-planted sim-long tsan ubsan fuzz bench bench-peers lint format
test: build $(JAVA_STAMP) $(VENV_STAMP) $(CLIENTS_STAMP) ## Unit, conformance, simulator smoke, operator, tidy and integration tests; ends with counts
	@$(KUBE_TOOLS) helm kube-apiserver
	@$(PYTHON) tests/run.py --build build/debug --jobs $(JOBS) $(if $(ONLY),--only '$(ONLY)')

integration: build $(JAVA_STAMP) $(VENV_STAMP) $(CLIENTS_STAMP) ## Integration tests only (ONLY='words' picks some, as expressions)
	@$(PYTHON) tests/integration/run.py --broker build/debug/$(BROKER) --java $(DEPS)/java $(ONLY)

sim: build/release/build.ninja ## Simulate SIM_SEEDS=300 seeds of one broker and SIM_CLUSTER_SEEDS=200 of three, from SEED=1
	@ninja -C build/release -j$(JOBS) braid-sim
	@build/release/tests/sim/braid-sim $(SIM_ARGS)
	@build/release/tests/sim/braid-sim --brokers 3 --seed $(SEED) --seeds $(SIM_CLUSTER_SEEDS)

sim-planted: build/release/build.ninja ## Search each planted bug among 1,000 seeds from SEED=1 (RECORD=1 notes the first ones)
	@ninja -C build/release -j$(JOBS) braid-sim
	@build/release/tests/sim/braid-sim --every-plant --seed $(SEED) --seeds 1000 $(if $(RECORD),--record tests/sim/planted.txt)

chaos: build/release/build.ninja $(VENV_STAMP) $(JAVA_STAMP) ## Three real brokers under kills, pauses, partitions and power cuts for CHAOS_SECONDS=600 (root)
	@ninja -C build/release -j$(JOBS) braid-broker
	@$(PYTHON) tests/chaos/run.py --broker build/release/$(BROKER) --java $(DEPS)/java --seconds $(CHAOS_SECONDS) --seed $(SEED)

chaos-peer: $(VENV_STAMP) $(JAVA_STAMP) $(KAFKA_STAMP) ## The same load and checker over Apache Kafka: clean, and with acks=1 its loss is found (root)
	@$(PYTHON) tests/chaos/run.py --target kafka --java $(DEPS)/java --kafka $(DEPS)/kafka --seconds 20
	@$(PYTHON) tests/chaos/run.py --target kafka --acks 1 --java $(DEPS)/java --kafka $(DEPS)/kafka --seconds 5

sim-long: ## Simulate 20,000 seeds of one broker, 5,000 of three
	@$(MAKE) sim SIM_SEEDS=20000 SIM_CLUSTER_SEEDS=5000

tsan: build/tsan/build.ninja ## Unit tests of the modules with threads under ThreadSanitizer in build/tsan
	@ninja -C build/tsan -j$(JOBS) $(TSAN_SUITES:%=%_test)
	@TSAN_OPTIONS=suppressions=$(CURDIR)/tests/unit/tsan.supp ctest --test-dir build/tsan -j$(JOBS) --output-on-failure -R '^unit\.($(subst $(space),|,$(TSAN_SUITES)))$$'

ubsan: build/ubsan/build.ninja ## Unit tests of what turns raw bytes into objects, with all of UBSan, in build/ubsan
	@ninja -C build/ubsan -j$(JOBS) $(UBSAN_SUITES:%=%_test)
	@ctest --test-dir build/ubsan -j$(JOBS) --output-on-failure -R '^unit\.($(subst $(space),|,$(UBSAN_SUITES)))$$'

fuzz: build/fuzz/build.ninja ## Run each fuzzer for FUZZ_SECONDS=60
	@ninja -C build/fuzz -j$(JOBS) tests/fuzz/all
	@tests/run_programs.sh build/fuzz '*_fuzz' -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix=build/fuzz/

bench: build/bench/build.ninja build/release/build.ninja ## Micro-benchmarks, a release broker against its targets (BENCH_ARGS='--only cpu': no more), bench-peers
	@ninja -C build/bench -j$(JOBS) tests/bench/all
	@tests/run_programs.sh build/bench '*_bench'
	@ninja -C build/release -j$(JOBS) broker_bench
	@build/release/tests/bench/broker_bench --json build/release/bench.json $(BENCH_ARGS)
	@$(if $(BENCH_ARGS),:,$(MAKE) bench-peers)

bench-peers: build/release/build.ninja $(VENV_STAMP) $(KAFKA_STAMP) ## Three brokers of BraidMQ beside three of Apache Kafka 4.4 (PEERS_ARGS='--only atomic')
	@ninja -C build/release -j$(JOBS) braid-broker braidctl kafka_load
	@$(PYTHON) tests/bench/peers/run.py --broker build/release/$(BROKER) --load build/release/tests/bench/kafka_load \
	  --kafka $(DEPS)/kafka --data build/release/bench-data --json build/release/peers.json $(PEERS_ARGS)

lint: build ## clang-format, tree checks, clang-tidy, charts (what has not changed since it passed is skipped; FILES="..." picks some)
	@$(KUBE_TOOLS) helm kubeconform
	@tests/tidy/lint.sh $(FILES)

format: ## Format every C++ file in place
	@git ls-files '*.cpp' '*.hpp' | xargs -r clang-format-19 -i

include cmake/kubernetes.mk

# Promises on a real Kubernetes: E2E_KUBECONFIG's, kind's, or our own, which `make k8s` starts. Once, what it needs is built.
NODES ?= 3
.PHONY: k8s k8s-load k8s-down e2e e2e-full
k8s: kube-packages ## Start a Kubernetes of NODES=3 nodes on this machine, without Docker (needs root); prints its KUBECONFIG
	@e2e/cluster/k8s up $(NODES)

k8s-load: e2e-packages ## Build the image and put it on the nodes of `make k8s`
	@e2e/load_image.py

k8s-down: ## End it, and remove its state
	@e2e/cluster/k8s down

e2e: e2e-packages $(VENV_STAMP) ## What BraidMQ promises on Kubernetes, as CI runs it (ONLY='broker_kill ...' picks some, KEEP=1)
	@$(KUBE_TOOLS) helm
	@NODES=$(NODES) e2e/run.py $(ONLY)

e2e-full: e2e-packages $(VENV_STAMP) $(JAVA_STAMP) ## All promises, with Java, Prometheus, a lost node, the image from source
	@$(KUBE_TOOLS) helm
	@NODES=$(NODES) e2e/run.py --full $(ONLY)

# --- Run --------------------------------------------------------------------------------------------------------------

.PHONY: quickstart quickstart-fresh run stop clean
quickstart: deps-quickstart ## From nothing to three brokers that survive kill -9 of the leader (KEEP=1 leaves them running)
	@$(MAKE) release RELEASE_TARGETS="braid-broker braidctl"
	@tests/integration/quickstart.sh build/release/$(BROKER) $(DEPS)/java run/quickstart

quickstart-fresh: ## The same in a fresh Debian bookworm root (needs root and debootstrap)
	@tests/integration/quickstart-fresh.sh

run: ## Start a broker on 127.0.0.1:9092 with its data in run/broker
	@$(MAKE) release RELEASE_TARGETS="braid-broker braidctl"
	@tests/integration/broker.sh start build/release/$(BROKER) run/broker $${KAFKA_PORT:-9092} $${ADMIN_PORT:-9644}

stop: ## End the brokers that `make run` and `make quickstart KEEP=1` started
	@tests/integration/broker.sh stop run/broker run/quickstart/0 run/quickstart/1 run/quickstart/2

clean: ## Remove what was built; data in run/ and fetched clients in build/deps stay
	@rm -rf build/debug build/release build/tsan build/ubsan build/fuzz build/bench
