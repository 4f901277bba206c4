# The front door. Everything is installed by the project's own files; Kafka and the registry are found or started.
.DEFAULT_GOAL := help
.PHONY: help setup demo dev test test-containers clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: node_modules/.setup ## install the packages

node_modules/.setup: package.json package-lock.json
	@npm ci --loglevel=error
	@touch $@

test: setup ## lint, types, unit, property, contract, integration, e2e; ends with "N passed, N failed"
	@npm run --silent test
