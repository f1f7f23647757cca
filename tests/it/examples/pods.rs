//! Kubelet and the controllers of the cluster, played: pods of Deployments run here, and EndpointSlices say where.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Container, Secret, Service};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::support::{Branch, Scripted, free_port, until};

/// What runs in a pod.
enum Process {
    /// hashicorp/http-echo.
    Echo(#[allow(dead_code, reason = "ends when it is dropped")] Scripted),
    /// redis, as far as the example goes.
    Redis(JoinHandle<()>),
    /// A real HAProxy.
    Haproxy(Child),
}

impl Drop for Process {
    fn drop(&mut self) {
        match self {
            Self::Echo(_) => {}
            Self::Redis(task) => task.abort(),
            Self::Haproxy(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

struct Pod {
    address: SocketAddr,
    _process: Process,
}

/// The pods of each Deployment.
#[derive(Default)]
pub(super) struct Pods {
    running: BTreeMap<String, Vec<Pod>>,
}

/// All objects of a kind.
fn all<K: serde::de::DeserializeOwned>(objects: &[Value], kind: &str) -> Vec<K> {
    let ours = objects.iter().filter(|object| object["kind"] == kind);
    ours.map(|object| serde_json::from_value(object.clone()).unwrap()).collect()
}

fn container(deployment: &Deployment) -> &Container {
    let pod = deployment.spec.as_ref().unwrap().template.spec.as_ref().unwrap();
    let [container] = pod.containers.as_slice() else { panic!("one container a pod: {deployment:?}") };
    container
}

impl Pods {
    /// Starts what is not running yet; files of pods go to `folder`.
    pub(super) async fn follow(&mut self, objects: &[Value], folder: &Path) {
        for deployment in all::<Deployment>(objects, "Deployment") {
            let name = deployment.metadata.name.clone().unwrap();
            if self.running.contains_key(&name) {
                continue;
            }
            let mut pods = Vec::new();
            for index in 0..deployment.spec.as_ref().unwrap().replicas.unwrap_or(1) {
                let pod = format!("{name}-5d7f9c6b4-{index}");
                let image = container(&deployment).image.as_deref().unwrap();
                pods.push(match image.split(':').next() {
                    Some("hashicorp/http-echo") => echo(&pod).await,
                    Some("redis") => redis().await,
                    Some("haproxy") => haproxy(&deployment, objects, &folder.join(&pod)).await,
                    _ => panic!("nobody plays the image {image}"),
                });
            }
            self.running.insert(name, pods);
        }
    }

    /// EndpointSlices of all Services: pods by the labels of their template, ports by name or number.
    pub(super) fn endpoint_slices(&self, objects: &[Value]) -> String {
        let deployments = all::<Deployment>(objects, "Deployment");
        let mut slices = Vec::new();
        for service in all::<Service>(objects, "Service") {
            let spec = service.spec.as_ref().unwrap();
            let selector = spec.selector.clone().unwrap_or_default();
            let chosen = deployments.iter().filter(|deployment| {
                let template = &deployment.spec.as_ref().unwrap().template;
                let labels = template.metadata.as_ref().and_then(|m| m.labels.clone()).unwrap_or_default();
                deployment.metadata.namespace == service.metadata.namespace
                    && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
            });
            for deployment in chosen {
                let ports = container(deployment).ports.clone().unwrap_or_default();
                let [port] = spec.ports.as_deref().unwrap() else { panic!("one port a Service") };
                let is_there = ports.iter().any(|at| match port.target_port.as_ref().unwrap() {
                    IntOrString::Int(number) => at.container_port == *number,
                    IntOrString::String(name) => at.name.as_ref() == Some(name),
                });
                assert!(is_there, "{:?} of {:?} leads to no port of its pods", port, service.metadata.name);
                let name = service.metadata.name.as_deref().unwrap();
                for pod in &self.running[deployment.metadata.name.as_deref().unwrap()] {
                    slices.push(json!({
                        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
                        "metadata": {
                            "name": format!("{name}-{}", pod.address.port()),
                            "namespace": service.metadata.namespace,
                            "labels": {"kubernetes.io/service-name": name},
                        },
                        "ports": [{"name": port.name, "port": pod.address.port(), "protocol": "TCP"}],
                        "endpoints": [{"addresses": [pod.address.ip()], "conditions": {"ready": true}}],
                    }));
                }
            }
        }
        slices.iter().map(|slice| format!("---\n{slice}\n")).collect()
    }
}

/// Says the name of its pod, which `-text=$(POD)` makes of it.
async fn echo(name: &str) -> Pod {
    let server = Scripted::start().await;
    server.answers(200, &[("X-App-Name", "http-echo")], &format!("{name}\n"));
    Pod { address: server.address, _process: Process::Echo(server) }
}

async fn redis() -> Pod {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(speak_redis(stream));
        }
    });
    Pod { address, _process: Process::Redis(task) }
}

/// Inline commands, as Redis understands them from people.
async fn speak_redis(stream: TcpStream) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await? {
        match line.trim_end() {
            "PING" => writer.write_all(b"+PONG\r\n").await?,
            "QUIT" => return writer.write_all(b"+OK\r\n").await,
            _ => writer.write_all(b"-ERR unknown command\r\n").await?,
        }
    }
    Ok(())
}

/// The configuration of the example's own HAProxy, with what its volumes hold.
async fn haproxy(deployment: &Deployment, objects: &[Value], folder: &Path) -> Pod {
    std::fs::create_dir_all(folder).unwrap();
    let pod = deployment.spec.as_ref().unwrap().template.spec.as_ref().unwrap();
    let port = free_port();
    for volume in pod.volumes.iter().flatten() {
        if let Some(source) = &volume.secret {
            let secrets = all::<Secret>(objects, "Secret");
            let secret = secrets.iter().find(|secret| secret.metadata.name == source.secret_name);
            let secret = secret.unwrap_or_else(|| panic!("the Secret {:?} is missing", source.secret_name));
            for (name, content) in secret.data.iter().flatten() {
                std::fs::write(folder.join(name), &content.0).unwrap();
            }
        }
        if let Some(source) = &volume.config_map {
            let maps = all::<ConfigMap>(objects, "ConfigMap");
            let map = maps.iter().find(|map| map.metadata.name.as_ref() == Some(&source.name)).unwrap();
            for (name, text) in map.data.iter().flatten() {
                let text = text
                    .replace("/tls/", &format!("{}/", folder.display()))
                    .replace("bind :8443", &format!("bind 127.0.0.1:{port}"));
                std::fs::write(folder.join(name), text).unwrap();
            }
        }
    }
    let child = Command::new(Branch(3, 2).program())
        .args(["-W", "-db", "-f"])
        .arg(folder.join("haproxy.cfg"))
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let process = Process::Haproxy(child);
    until("the HAProxy of the pod to listen", || async {
        TcpStream::connect(address).await.map(drop).map_err(|error| error.to_string())
    })
    .await;
    Pod { address, _process: process }
}
