#!/bin/sh
# kubeconfig.sh [DURATION]: prints a kubeconfig of the account in rbac.yaml, for the cluster of kubectl's current context. The
# token in it is good for a year, or for less when the cluster says so.
set -eu
token=$(kubectl -n outrigger create token outrigger-external --duration="${1:-8760h}")
# JSON, which is YAML as well: where the cluster is, and how its certificate is verified.
cluster=$(kubectl config view --minify --raw --flatten -o jsonpath='{.clusters[0].cluster}')
cat <<END_OF_FILE
apiVersion: v1
kind: Config
current-context: outrigger
clusters: [{name: outrigger, cluster: $cluster}]
users: [{name: outrigger, user: {token: $token}}]
contexts: [{name: outrigger, context: {cluster: outrigger, user: outrigger, namespace: outrigger}}]
END_OF_FILE
