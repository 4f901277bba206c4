# The front door. Everything is installed by the project's own files; Kafka and the registry are found or started.
.DEFAULT_GOAL := help
.PHONY: help setup demo dev test test-containers chaos bench image clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: node_modules/.setup ## install the packages

node_modules/.setup: package.json package-lock.json
	@npm ci --loglevel=error
	@touch $@

demo: setup ## the main job on real parts: batches in, signed and retried webhooks out, a table of what became of each
	@exec node_modules/.bin/node --disable-warning=TimeoutNegativeWarning deploy/tools/local/demo.ts

test: setup ## lint, types, generated files, unit, property, contract, integration, e2e; ends with "N passed, N failed"
	@npm run --silent test

dev: setup ## Kafka, registry, topics, schemas and all services in the foreground; CONFIG=file, DATA_DIR=dir
	@CALLER_PWD='$(PWD)' exec node_modules/.bin/node deploy/tools/local/dev.ts

test-containers: setup ## the Kafka contract suites against a broker in Docker; KAFKA_TEST_IMAGE=name
	@HOOKLINE_KAFKA=container npm run --silent jest -- --selectProjects contract --testPathPatterns test/contract/kafka

# What is set on the command line of make is in the environment of what it runs.
chaos: setup ## faults from outside under load, a table of what became of each event; SEED=n, ONLY=name,name, PATIENCE=n, MINUTES=n, JSON=file, PUBLISH=1
	@exec node_modules/.bin/node --disable-warning=TimeoutNegativeWarning test/tools/chaos/main.ts

bench: setup ## deliveries a CPU second, latency, memory, crashes, each next to its bar; ROWS=name,name, PUBLISH=1, PROFILE=1, more in docs/performance/README.md
	@exec node_modules/.bin/node --disable-warning=TimeoutNegativeWarning test/tools/bench/bench.ts

image: DOCKER ?= docker
image: VERSION ?= $(shell sed -n 's/^  "version": "\(.*\)",/\1/p' package.json)
image: REVISION ?= $(shell git rev-parse HEAD 2>/dev/null)
image: IMAGE ?= hookline:$(VERSION)
image: ## the container image; IMAGE=name:tag, DOCKER=podman, BUILD_IMAGE=name, RUNTIME_IMAGE=name, RUNTIME_NODE=path in it
	$(DOCKER) build --file deploy/image/Dockerfile --tag '$(IMAGE)' \
	  $(foreach name,BUILD_IMAGE RUNTIME_IMAGE VERSION REVISION RUNTIME_NODE,$(if $($(name)),--build-arg '$(name)=$($(name))')) .

# Kafka's data is a Docker volume when it ran in a container; its name lies beside the rest.
clean: DATA = $(or $(DATA_DIR),.hookline)
clean: ## remove what `make dev` keeps and what was built
	@if [ -f '$(DATA)/kafka/docker-volume' ]; then docker volume rm --force "$$(cat '$(DATA)/kafka/docker-volume')" >/dev/null; fi
	@rm -rf '$(DATA)/kafka' '$(DATA)/registry' '$(DATA)/bench' dist coverage
	@rmdir '$(DATA)' 2>/dev/null || true
