//! Ports that the ConfigMap says.

use super::settings;
use crate::support::client::{get, get_tls};
use crate::support::{Branch, free_port, until};

on_every_branch!(
    the_config_map_moves_the_listeners,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        let (http, https) = (free_port(), free_port());
        bed.put(
            "settings.yaml",
            &settings(&[("http-port", &http.to_string()), ("https-port", &https.to_string())]),
        );
        until("an answer on the other ports", || async {
            let clear = get(bed.address(http), "x.test", "/").await?;
            let (tls, _) = get_tls(bed.address(https), "x.test", "/").await?;
            if (clear.status, tls.status) == (404, 404) { Ok(()) } else { Err(format!("{clear:?}")) }
        })
        .await;
        until("nothing on the old ones", || async {
            match get(bed.http(), "x.test", "/").await {
                Err(_) => Ok(()),
                Ok(answer) => Err(format!("{answer:?}")),
            }
        })
        .await;
        // HAProxy's own endpoints stay where they are, so the pod stays ready.
        assert_eq!(get(bed.address(bed.ports.healthz), "x", "/readyz").await.unwrap().status, 200);

        // A port of another listener, and one that only root may have.
        let stats = bed.ports.stats.to_string();
        bed.put("settings.yaml", &settings(&[("http-port", &stats), ("https-port", &https.to_string())]));
        bed.until_logged(&["port-conflict", &stats, "http-port"]).await;
        until("the flag's port again", || async { get(bed.http(), "x.test", "/").await.map(|_| ()) }).await;
        bed.proves(&["http-port", "https-port"]);
    }
);
