//! `rate-limit-requests` and what belongs to it.

use super::{app, config_map, site, status, until_status};
use crate::support::manifests::endpoints;
use crate::support::{Bed, Branch, Echo, until};

/// Statuses of so many requests, one after the other.
async fn statuses(bed: &Bed, host: &str, from: u8, requests: usize) -> Vec<u16> {
    let mut statuses = Vec::new();
    for _ in 0..requests {
        statuses.push(status(bed, host, from).await);
    }
    statuses
}

/// Waits until rules see this limit.
async fn until_limit(bed: &Bed, object: &str, limit: u32) {
    let map = bed.path("etc/maps/values.map");
    until(&format!("{object} to have the limit {limit}"), || async {
        let values = bed.master(&format!("@1 show map {}", map.display()))?;
        let wanted = format!("rate-limit|{object} {limit}");
        if values.lines().any(|line| line.ends_with(&wanted)) { Ok(()) } else { Err(values) }
    })
    .await;
}

on_every_branch!(
    requests_are_counted_by_source_and_ingress,
    [
        "--configmap=default/settings",
        "--configmap-patternfiles=default/patterns",
        "--publish-service=default/outrigger"
    ],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &app(echo.address));
        bed.put("patterns.yaml", &config_map("patterns", &[("free", "127.0.0.30")]));
        let a = |limit: u32| {
            let free = "rate-limit-whitelist: 127.0.0.9 127.0.0.30";
            site(
                "a",
                &format!(
                    "rate-limit-requests: \"{limit}\"\nrate-limit-period: 1h\nrate-limit-status-code: \"429\"\n{free}"
                ),
            )
        };
        bed.put("a.yaml", &a(3));
        bed.put(
            "b.yaml",
            &site(
                "b",
                "rate-limit-requests: \"2\"\nrate-limit-period: 1h\nrate-limit-whitelist: patterns/free",
            ),
        );
        bed.put(
            "c.yaml",
            &site("c", "rate-limit-requests: \"5\"\nrate-limit-period: 2h\nrate-limit-size: 1k"),
        );
        bed.put("d.yaml", &site("d", "rate-limit-requests: \"1\""));
        bed.put("open.yaml", &site("open", ""));
        for host in ["a.test", "b.test", "c.test", "d.test", "open.test"] {
            until_status(&bed, host, 99, 200).await;
        }
        bed.until_settled().await;
        assert_eq!(statuses(&bed, "a.test", 1, 5).await, [200, 200, 200, 429, 429]);
        assert_eq!(statuses(&bed, "a.test", 2, 4).await, [200, 200, 200, 429], "another source");
        assert_eq!(
            statuses(&bed, "b.test", 1, 3).await,
            [200, 200, 403],
            "another Ingress in the same table"
        );
        assert_eq!(statuses(&bed, "a.test", 9, 10).await, [200; 10], "the whitelist");
        assert_eq!(statuses(&bed, "b.test", 30, 5).await, [200; 5], "a pattern file");
        assert_eq!(statuses(&bed, "c.test", 1, 6).await, [200, 200, 200, 200, 200, 403]);
        // A second is the period when nothing is said: whoever waits is served again.
        until_status(&bed, "d.test", 1, 403).await;
        until("the count to expire", || async {
            let table = bed.master("@1 show table rate-limit_1000-102400")?;
            if table.contains("-127.0.0.1 ") { Err(table) } else { Ok(()) }
        })
        .await;
        assert_eq!(status(&bed, "d.test", 1).await, 200);
        assert_eq!(statuses(&bed, "open.test", 1, 20).await, [200; 20]);
        let tables = bed.master("@1 show table").unwrap();
        for (table, size) in [("3600000-102400", 102_400), ("7200000-1024", 1_024), ("1000-102400", 102_400)]
        {
            let wanted = format!("table: rate-limit_{table}, type: string, size:{size},");
            assert!(tables.contains(&wanted), "{wanted} in {tables}");
        }

        // Another limit, and fewer or more controllers that share it, need no reload.
        let worker = bed.worker().await;
        bed.put("a.yaml", &a(10));
        until_limit(&bed, "ingress/default/a", 10).await;
        assert_eq!(
            statuses(&bed, "a.test", 1, 6).await,
            [200, 200, 200, 200, 200, 429],
            "five were counted before"
        );
        let controllers = ["10.0.0.1:80".parse().unwrap(), "10.0.0.2:80".parse().unwrap()];
        bed.put("outrigger.yaml", &endpoints("outrigger", &controllers));
        until_limit(&bed, "ingress/default/c", 3).await;
        assert_eq!(statuses(&bed, "c.test", 3, 4).await, [200, 200, 200, 403], "half of five, rounded up");
        bed.put("outrigger.yaml", &endpoints("outrigger", &controllers[..1]));
        until_limit(&bed, "ingress/default/c", 5).await;
        assert_eq!(statuses(&bed, "c.test", 4, 6).await, [200, 200, 200, 200, 200, 403]);
        assert_eq!(bed.worker().await, worker, "no reload was needed");

        // From 2.6 on, a worker that found no older one with tables waits five seconds (ten on 2.6) until it passes its own on:
        // for a local peer, and for others.
        until("the worker to know that nobody teaches it", || async {
            let peers = bed.master("@1 show peers")?;
            let flags = peers.split("flags=0x").nth(1).and_then(|rest| rest.split(' ').next());
            let flags = flags.and_then(|flags| u32::from_str_radix(flags, 16).ok()).unwrap_or(0);
            let done = peers.contains("resync_timeout=<NEVER>") || flags & 3 == 3;
            if done { Ok(()) } else { Err(peers) }
        })
        .await;
        // The ConfigMap is one limit for all that say nothing. This is a reload, over which counts survive.
        let settings = [("rate-limit-requests", "4"), ("rate-limit-period", "1h")];
        bed.put("settings.yaml", &config_map("settings", &settings));
        until_limit(&bed, "configmap/default/settings", 4).await;
        until("the reload", || async {
            if bed.worker().await == worker { Err(worker.to_string()) } else { Ok(()) }
        })
        .await;
        // Until the old worker of 2.2 stops, both of them answer.
        until_status(&bed, "open.test", 60, 403).await;
        assert_eq!(statuses(&bed, "open.test", 5, 5).await, [200, 200, 200, 200, 403]);
        assert_eq!(status(&bed, "d.test", 5).await, 200, "it has a limit of its own");
        until("the counts of the old worker", || async {
            let table = bed.master("@1 show table rate-limit_3600000-102400")?;
            if table.contains("-127.0.0.1 ") { Ok(()) } else { Err(table) }
        })
        .await;
        assert_eq!(status(&bed, "a.test", 1).await, 429);
        assert_eq!(status(&bed, "a.test", 9).await, 200);
        bed.proves(&[
            "rate-limit-requests",
            "rate-limit-period",
            "rate-limit-size",
            "rate-limit-status-code",
            "rate-limit-whitelist",
        ]);
    }
);
