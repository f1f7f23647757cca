//! `auth-type`, `auth-secret`, `auth-realm`.

use super::{app, call, config_map, secret, site, until_status};
use crate::support::client::{Answer, Call};
use crate::support::{Bed, Branch, Echo, until};

const SHA512: &str =
    "$6$saltsalt$TVLlQcbpFVof5W3Yz4DTP6gRstiNuHwwTt6GLc1E5n0U0aDehy0S5knV8wiOQSpT0Y77vwPZN.Pq.H91p5hVO1";
const SHA256: &str = "$5$saltsalt$0IyaXrmV7.sGNS6tirgqHLqX/G.FBvgkYA.lpPdS5sA";
const MD5: &str = "$1$saltsalt$9xy1btjgzLYfb7hivXtC//";
const APACHE: &str = "$apr1$saltsalt$LrttParrLPdxvgutaSXWJ0";
/// Of `U*U`; the three kinds differ only for passwords that are not ASCII.
const BCRYPT: &str = "05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
/// Of `U*U*U*U*`.
const DES: &str = "CCNf8Sbh3HDfQ";

async fn get(bed: &Bed, host: &str, login: &str) -> Answer {
    let headers = match login {
        "" => String::new(),
        login => format!("Authorization: Basic {}\r\n", base64(login.as_bytes())),
    };
    call(bed, &Call { host, headers: &headers, ..Call::default() }).await
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |number: u32| char::from(DIGITS[(number & 63) as usize]);
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        let all = [digit(bits >> 18), digit(bits >> 12), digit(bits >> 6), digit(bits)];
        text.extend(&all[..=group.len()]);
        text.push_str(&"=="[..3 - group.len()]);
    }
    text
}

on_every_branch!(passwords_are_asked_for, ["--configmap=default/settings"], |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &app(echo.address));
    let [y, b, a] = ["y", "b", "a"].map(|kind| format!("$2{kind}${BCRYPT}"));
    let users = [("ann", SHA512), ("bob", SHA256), ("carl", MD5), ("dora", APACHE), ("eve", "secret")];
    let more = [("b-y", y.as_str()), ("b-b", &b), ("b-a", &a), ("des", DES)];
    bed.put("users.yaml", &secret("users", &[&users[..], &more[..]].concat()));
    let lines = format!("ann:{SHA512}\n# bob:{MD5}\ncarl:{MD5}\n");
    bed.put("lines.yaml", &secret("lines", &[("auth", &lines)]));
    let keys = "auth-type: basic-auth\nauth-secret: ";
    bed.put("a.yaml", &site("a", &format!("{keys}users")));
    bed.put(
        "b.yaml",
        &site("b", &format!("{keys}default/lines\nauth-realm: \"The 'back' #1 office, 100%\"")),
    );
    bed.put("none.yaml", &site("none", &format!("{keys}nobody")));
    bed.put("theirs.yaml", &site("theirs", &format!("{keys}kube-system/users")));
    bed.put("unnamed.yaml", &site("unnamed", "auth-type: basic-auth"));
    bed.put("open.yaml", &site("open", "auth-secret: users"));
    until_status(&bed, "a.test", 1, 401).await;
    until_status(&bed, "b.test", 1, 401).await;
    assert_eq!(
        get(&bed, "a.test", "").await.header("www-authenticate"),
        Some("Basic realm=\"Protected Content\"")
    );
    let realm = get(&bed, "b.test", "").await;
    assert_eq!(realm.header("www-authenticate"), Some("Basic realm=\"The 'back' #1 office, 100%\""));
    for login in ["ann:secret", "bob:secret", "carl:secret", "b-y:U*U", "b-b:U*U", "b-a:U*U", "des:U*U*U*U*"]
    {
        assert_eq!(get(&bed, "a.test", login).await.status, 200, "{login}");
    }
    // A wrong password, no user, users whose hash cannot be checked.
    for login in [
        "ann:Secret",
        "ann:",
        "nobody:secret",
        "dora:secret",
        "eve:secret",
        "b-y:U*",
        &format!("ann:{SHA512}"),
    ] {
        assert_eq!(get(&bed, "a.test", login).await.status, 401, "{login}");
    }
    assert_eq!(get(&bed, "b.test", "carl:secret").await.status, 200);
    assert_eq!(get(&bed, "b.test", "bob:secret").await.status, 401, "he is not in this Secret");
    // What is missing closes the path.
    for host in ["none.test", "theirs.test", "unnamed.test"] {
        until_status(&bed, host, 1, 503).await;
        assert_eq!(get(&bed, host, "ann:secret").await.status, 503);
    }
    until_status(&bed, "open.test", 1, 200).await;
    bed.until_logged(&["credentials-invalid", "`dora`", "apr1", "1 more"]).await;
    bed.until_logged(&["secret-not-found", "default/nobody"]).await;
    bed.until_logged(&["secret-forbidden", "kube-system/users"]).await;
    bed.until_logged(&["access-closed", "default/unnamed"]).await;
    bed.until_logged(&["key-ineffective", "default/open"]).await;

    // Other passwords, a Secret that comes, and the ConfigMap that may name any.
    bed.put("lines.yaml", &secret("lines", &[("auth", &format!("bob:{MD5}"))]));
    until("bob to be let in", || async {
        let answer = get(&bed, "b.test", "bob:secret").await;
        if answer.status == 200 { Ok(()) } else { Err(answer.status.to_string()) }
    })
    .await;
    assert_eq!(get(&bed, "b.test", "carl:secret").await.status, 401);
    bed.put("nobody.yaml", &secret("nobody", &[("zoe", MD5)]));
    until_status(&bed, "none.test", 1, 401).await;
    assert_eq!(get(&bed, "none.test", "zoe:secret").await.status, 200);
    let settings = [("auth-type", "basic-auth"), ("auth-secret", "users"), ("auth-realm", "All")];
    bed.put("settings.yaml", &config_map("settings", &settings));
    until_status(&bed, "unnamed.test", 1, 401).await;
    until_status(&bed, "open.test", 1, 401).await;
    let answer = get(&bed, "unnamed.test", "ann:secret").await;
    assert_eq!((answer.status, answer.name()), (200, "echo"));
    assert_eq!(get(&bed, "unnamed.test", "").await.header("www-authenticate"), Some("Basic realm=\"All\""));
    for hash in [SHA512, APACHE, "U*U", "eve:secret"] {
        assert!(!bed.log().contains(hash), "{hash} was printed");
    }
    bed.proves(&["auth-type", "auth-secret", "auth-realm"]);
});
