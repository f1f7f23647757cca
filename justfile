# One-liners over cargo; cargo alone does all of it. The parts (HAProxy, API server): `make parts`, then
# `source scripts/parts/env.sh`.

# all that CI checks, but for the tests
check: fmt-check deny
    cargo clippy --workspace --all-targets --locked -- -D warnings

# one test, or those whose name holds NAME
test NAME='':
    cargo test --workspace --locked {{NAME}}

bench NAME='*':
    cargo bench --locked --bench '{{NAME}}'

fmt:
    cargo fmt

fmt-check:
    cargo fmt --check

deny:
    cargo deny --offline check bans licenses sources

demo:
    make demo
