# The commands for development. They install all dependencies, and start Kafka and the schema
# registry if needed.
.DEFAULT_GOAL := help
.PHONY: help setup demo dev test test-containers test-cluster chaos bench image clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: node_modules/.setup dist/console/index.html ## install the npm packages, and build the console

node_modules/.setup: package.json package-lock.json
	@npm ci --loglevel=error
	@touch $@

dist/console/index.html: node_modules/.setup $(shell find packages/console src/core -type f)
	@npm run --silent build:console

demo: setup ## send sample batches through real services and print a table of the deliveries, retries and dead letters
	@exec node_modules/.bin/node --disable-warning=TimeoutNegativeWarning deploy/tools/local/demo.ts

test: setup ## run lint, type check and all test suites; ends with "N passed, N failed"
	@npm run --silent test

dev: setup ## run Kafka, a schema registry and all services in the foreground; CONFIG=file, DATA_DIR=dir
	@CALLER_PWD='$(PWD)' exec node_modules/.bin/node deploy/tools/local/dev.ts

test-containers: setup ## run the Kafka contract tests against a broker in Docker; KAFKA_TEST_IMAGE=name
	@HOOKLINE_KAFKA=container npm run --silent jest -- --selectProjects contract --testPathPatterns test/contract/kafka

test-cluster: setup ## install the chart on a real one-node Kubernetes, and run scenarios under load; needs Linux, root and Go; ONLY=name,name, PUBLISH=1
	@exec node_modules/.bin/node --disable-warning=TimeoutNegativeWarning test/tools/cluster/main.ts

# Make passes variables of its command line to the environment of its commands.
chaos: setup ## cause faults under load, and print a table of lost and duplicated deliveries; SEED=n, ONLY=name,name, PATIENCE=n, MINUTES=n, JSON=file, LOGS=dir, PUBLISH=1
	@exec node_modules/.bin/node --max-old-space-size=12288 --disable-warning=TimeoutNegativeWarning test/tools/chaos/main.ts

bench: setup ## measure throughput, latency, memory and crash recovery, and compare each figure with its bound; ROWS=name,name, PUBLISH=1, PROFILE=1; see docs/performance/README.md
	@exec node_modules/.bin/node --disable-warning=TimeoutNegativeWarning test/tools/bench/main.ts

image: DOCKER ?= docker
image: VERSION ?= $(shell sed -n 's/^  "version": "\(.*\)",/\1/p' package.json)
image: REVISION ?= $(shell git rev-parse HEAD 2>/dev/null)
image: IMAGE ?= hookline:$(VERSION)
image: ## build the container image; IMAGE=name:tag, DOCKER=podman, BUILD_IMAGE=name, RUNTIME_IMAGE=name, RUNTIME_NODE=path in it
	$(DOCKER) build --file deploy/image/Dockerfile --tag '$(IMAGE)' \
	  $(foreach name,BUILD_IMAGE RUNTIME_IMAGE VERSION REVISION RUNTIME_NODE,$(if $($(name)),--build-arg '$(name)=$($(name))')) .

# If Kafka ran in a container, its data is in a Docker volume. The file docker-volume has the name
# of the volume.
clean: DATA = $(or $(DATA_DIR),.hookline)
clean: ## delete the data of `make dev` and all build output
	@if [ -f '$(DATA)/kafka/docker-volume' ]; then docker volume rm --force "$$(cat '$(DATA)/kafka/docker-volume')" >/dev/null; fi
	@rm -rf '$(DATA)/kafka' '$(DATA)/registry' '$(DATA)/bench' dist coverage
	@rmdir '$(DATA)' 2>/dev/null || true
