//! `allow-list`, `deny-list`, pattern files.

use super::{app, config_map, site, status, until_status};
use crate::support::{Branch, Echo};

on_every_branch!(
    lists_say_who_may_and_change_without_a_reload,
    ["--configmap=default/settings", "--configmap-patternfiles=default/patterns"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &app(echo.address));
        bed.put(
            "patterns.yaml",
            &config_map("patterns", &[("office", "# us\n127.0.0.2\n"), ("words", "a b\nc")]),
        );
        let allow = |list: &str| site("allow", &format!("allow-list: \"{list}\""));
        bed.put("allow.yaml", &allow("127.0.0.2, 2001:db8::/32"));
        bed.put("old.yaml", &site("old", "whitelist: 127.0.0.3\nblacklist: 127.0.0.4"));
        bed.put("deny.yaml", &site("deny", "deny-list: 127.0.0.2/31"));
        bed.put("file.yaml", &site("file", "allow-list: patterns/office"));
        bed.put("late.yaml", &site("late", "allow-list: patterns/late"));
        bed.put("shut.yaml", &site("shut", "deny-list: patterns/late"));
        bed.put("bad.yaml", &site("bad", "allow-list: 10.0.0.0/33"));
        bed.put("open.yaml", &site("open", "cors-enable: \"false\""));
        for (host, ours, others) in [
            ("allow.test", &[2u8] as &[u8], &[1u8, 3] as &[u8]),
            ("old.test", &[3], &[1, 4]),
            ("deny.test", &[1, 4], &[2, 3]),
            ("file.test", &[2], &[1, 3]),
            ("late.test", &[], &[1, 2]),
            ("open.test", &[1, 2], &[]),
        ] {
            for from in ours {
                until_status(&bed, host, *from, 200).await;
            }
            for from in others {
                until_status(&bed, host, *from, 403).await;
            }
        }
        until_status(&bed, "bad.test", 1, 503).await;
        until_status(&bed, "shut.test", 1, 503).await;
        bed.until_logged(&["access-closed", "default/bad"]).await;
        bed.until_logged(&["value-invalid", "default/bad", "10.0.0.0/33"]).await;
        bed.until_logged(&["pattern-file-not-found", "default/late"]).await;
        let worker = bed.worker().await;

        // Lists change while HAProxy runs: what was served is not any more, and the other way round.
        bed.put("allow.yaml", &allow("127.0.0.3"));
        until_status(&bed, "allow.test", 3, 200).await;
        until_status(&bed, "allow.test", 2, 403).await;
        bed.put("deny.yaml", &site("deny", "deny-list: 127.0.0.1"));
        until_status(&bed, "deny.test", 1, 403).await;
        until_status(&bed, "deny.test", 2, 200).await;
        let files = [("office", "127.0.0.3\nnonsense"), ("late", "127.0.0.0/30"), ("words", "a b\nd")];
        bed.put("patterns.yaml", &config_map("patterns", &files));
        until_status(&bed, "file.test", 3, 200).await;
        until_status(&bed, "file.test", 2, 403).await;
        until_status(&bed, "late.test", 2, 200).await;
        until_status(&bed, "late.test", 5, 403).await;
        bed.until_logged(&["pattern-file-invalid", "office", "nonsense"]).await;
        assert_eq!(status(&bed, "allow.test", 3).await, 200, "others are as they were");
        let words = std::fs::read_to_string(bed.path("etc/patterns/words")).unwrap();
        assert!(words.starts_with("a b\nd\n"), "{words}");
        // Only the list that was missing is a new rule, and that is a reload.
        until_status(&bed, "shut.test", 5, 200).await;
        until_status(&bed, "shut.test", 1, 403).await;
        assert_ne!(bed.worker().await, worker, "it was a reload");
        // After a reload it is the same.
        for (host, from, wanted) in [("allow.test", 3, 200), ("allow.test", 2, 403), ("late.test", 2, 200)] {
            until_status(&bed, host, from, wanted).await;
        }
        let worker = bed.worker().await;
        bed.put("allow.yaml", &allow("127.0.0.2"));
        until_status(&bed, "allow.test", 2, 200).await;
        until_status(&bed, "allow.test", 3, 403).await;
        assert_eq!(bed.worker().await, worker, "no reload was needed");

        // The ConfigMap is for those that say nothing.
        bed.put("settings.yaml", &config_map("settings", &[("deny-list", "127.0.0.5")]));
        until_status(&bed, "open.test", 5, 403).await;
        until_status(&bed, "open.test", 1, 200).await;
        until_status(&bed, "deny.test", 5, 200).await;
        bed.put("settings.yaml", &config_map("settings", &[("deny-list", "127.0.0.6")]));
        until_status(&bed, "open.test", 5, 200).await;
        until_status(&bed, "open.test", 6, 403).await;
        bed.proves(&["allow-list", "deny-list"]);
    }
);
