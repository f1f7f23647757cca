//! The Kubernetes client: from a kubeconfig, or from inside the cluster.
//!
//! The TLS provider must be installed before (`rustls::crypto::ring::default_provider().install_default()`).

use std::env;
use std::path::PathBuf;

use kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use thiserror::Error;

/// Why there is no client.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The file that a flag names cannot be used.
    #[error("read kubeconfig `{}`, {}", path.display(), context_text(context.as_deref()))]
    File {
        /// The file.
        path: PathBuf,
        /// The context asked for.
        context: Option<String>,
        /// Why.
        #[source]
        source: KubeconfigError,
    },
    /// A context was asked for, and `KUBECONFIG` or the default file does not give it.
    #[error("read kubeconfig ({}), {}", default_place(), context_text(context.as_deref()))]
    Default {
        /// The context asked for.
        context: Option<String>,
        /// Why.
        #[source]
        source: KubeconfigError,
    },
    /// Neither a kubeconfig nor a service account.
    #[error("no kubeconfig ({}: {kubeconfig}) and not inside a cluster", default_place())]
    Nowhere {
        /// Why the kubeconfig cannot be used.
        kubeconfig: KubeconfigError,
        /// Why the service account cannot be used.
        #[source]
        source: InClusterError,
    },
    /// The configuration was read, but cannot be used.
    #[error("set up the connection to {server}")]
    Connection {
        /// The API server.
        server: String,
        /// Why.
        #[source]
        source: Box<kube::Error>,
    },
}

/// A client of the API server: the kubeconfig of the flag, else `KUBECONFIG` or the default file, else the service account of the pod.
///
/// A kubeconfig that exists but cannot be used is an error, never a reason to look elsewhere.
pub async fn client(kubeconfig: Option<PathBuf>, context: Option<String>) -> Result<Client, ClientError> {
    let config = config(kubeconfig, context).await?;
    let server = config.cluster_url.to_string();
    // kube sets no limit of requests in flight or per second, and none is added: an update costs the API server little.
    Client::try_from(config).map_err(|source| ClientError::Connection { server, source: Box::new(source) })
}

async fn config(kubeconfig: Option<PathBuf>, context: Option<String>) -> Result<Config, ClientError> {
    let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
    if let Some(path) = kubeconfig {
        let loaded = match Kubeconfig::read_from(&path) {
            Ok(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options).await,
            Err(error) => Err(error),
        };
        return loaded.map_err(|source| ClientError::File { path, context, source });
    }
    match Config::from_kubeconfig(&options).await {
        Ok(config) => Ok(config),
        Err(source) if context.is_some() || !is_absent(&source) => {
            Err(ClientError::Default { context, source })
        }
        Err(kubeconfig) => Config::incluster().map_err(|source| ClientError::Nowhere { kubeconfig, source }),
    }
}

/// There is no kubeconfig at all, so the pod's service account is what is meant.
fn is_absent(error: &KubeconfigError) -> bool {
    match error {
        KubeconfigError::FindPath => true,
        KubeconfigError::ReadConfig(error, _) => error.kind() == std::io::ErrorKind::NotFound,
        // An empty `KUBECONFIG` or one that names no file yields an empty configuration.
        KubeconfigError::CurrentContextNotSet => env::var_os("KUBECONFIG").is_some_and(|v| v.is_empty()),
        _ => false,
    }
}

fn default_place() -> String {
    match env::var("KUBECONFIG") {
        Ok(value) if !value.is_empty() => format!("KUBECONFIG `{value}`"),
        _ => "`~/.kube/config`".to_owned(),
    }
}

fn context_text(context: Option<&str>) -> String {
    match context {
        Some(context) => format!("context `{context}`"),
        None => "current context".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const KUBECONFIG: &str = "apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: \"https://192.0.2.1:6443\"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: one, context: {cluster: c, user: u, namespace: shop}}]
current-context: one
";

    #[tokio::test]
    async fn a_kubeconfig_gives_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        fs::write(&path, KUBECONFIG).unwrap();
        for context in [None, Some("one".to_owned())] {
            let config = config(Some(path.clone()), context).await.unwrap();
            assert_eq!(config.cluster_url.to_string(), "https://192.0.2.1:6443/");
        }
    }

    #[tokio::test]
    async fn errors_name_the_file_and_the_context() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let missing = config(Some(path.clone()), None).await.unwrap_err().to_string();
        assert!(
            missing.contains(&path.display().to_string()) && missing.contains("current context"),
            "{missing}"
        );
        fs::write(&path, KUBECONFIG).unwrap();
        let unknown = config(Some(path), Some("two".to_owned())).await.unwrap_err().to_string();
        assert!(unknown.contains("context `two`"), "{unknown}");
    }
}
