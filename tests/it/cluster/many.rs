//! A whole application catalogue at once.

use std::time::Instant;

use super::lab::{self, BRANCH, pod, processes};
use crate::support::until;

const INGRESSES: usize = 300;
/// The API server takes some seconds for all of them, and reloads are half a second apart.
const MOST_RELOADS: u32 = 20;

#[test]
fn three_hundred_ingresses_at_once_need_few_reloads() {
    lab::run(async |lab| {
        let space = lab.space("many").await;
        let one = pod("one").await;
        each(|i| {
            let (space, one) = (&space, &one);
            async move { space.app(&format!("app{i}"), &[one]).await }
        })
        .await;
        let bed = lab.bed(BRANCH, &[]).await;
        let (_, _, reloads) = processes(&bed).await;
        let start = Instant::now();
        each(|i| {
            let space = &space;
            async move { space.ingress(&format!("app{i}"), &format!("h{i}.test"), &format!("app{i}")).await }
        })
        .await;
        let created = start.elapsed();
        for i in 0..INGRESSES {
            bed.until_name(&format!("h{i}.test"), "/", "one").await;
        }
        let (_, _, now) = processes(&bed).await;
        println!(
            "{INGRESSES} Ingresses created in {created:.1?}, all answer after {:.1?}, {} reloads",
            start.elapsed(),
            now - reloads
        );
        assert!(now - reloads <= MOST_RELOADS, "{} reloads", now - reloads);

        bed.stop_controller().await;
        let marker = bed.log().len();
        bed.start_controller();
        bed.until_ready().await;
        let said = until("the first update", || async {
            let said = bed.log()[marker..].to_owned();
            if said.contains("finish haproxy update") { Ok(said) } else { Err(said) }
        })
        .await;
        assert!(said.contains("outcome=unchanged"), "{said}");
        let (_, _, now) = processes(&bed).await;
        for i in 0..INGRESSES {
            assert_eq!(bed.get(&format!("h{i}.test"), "/").await.name(), "one");
        }
        assert_eq!(processes(&bed).await.2, now, "no reload");
        bed.check_after_test().await;
    });
}

/// Runs it for each number, 30 at a time.
async fn each<F: Future<Output = ()>>(action: impl Fn(usize) -> F) {
    use futures_util::StreamExt;
    futures_util::stream::iter(0..INGRESSES).map(action).buffer_unordered(30).collect::<Vec<()>>().await;
}
