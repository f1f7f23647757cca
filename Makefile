# What a newcomer runs. Each target sets up by itself what it needs, and only that; a second run finds it in the cache.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.PHONY: demo example test cluster bench parts

parts:
	scripts/parts/all.sh

demo:
	scripts/parts/tools.sh build
	scripts/parts/haproxy.sh 3.2
	scripts/demo.sh

example:
	scripts/parts/tools.sh build
	for branch in 2.6 3.0 3.2; do scripts/parts/haproxy.sh $$branch; done
	scripts/parts/apiserver.sh
	scripts/parts/node.sh
	scripts/parts/helm.sh
	scripts/example.sh

test: parts
	scripts/test.sh

# Of these tests those alone that need a whole Kubernetes, which they bring up themselves: the images and the chart.
cluster: parts
	source scripts/parts/env.sh; cargo test --locked --test cluster

# --bench '*': the benchmarks alone; without it cargo also builds every unit test in release mode to run none of them
bench:
	scripts/parts/tools.sh build
	scripts/parts/haproxy.sh
	scripts/parts/apiserver.sh
	source scripts/parts/env.sh; cargo bench --locked --bench '*'
