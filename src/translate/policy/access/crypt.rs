//! Hashes of passwords that HAProxy can check: it asks crypt(3), and a hash that crypt(3) does not know makes it refuse the whole
//! configuration (2.2 to 3.4). So a hash has to be exactly of a form that both glibc's (libxcrypt) and musl's know.

/// Most rounds of the SHA schemes: some ten milliseconds for each request, in which a thread of HAProxy does nothing else.
const MOST_ROUNDS: u32 = 20_000;
/// Highest cost of bcrypt, for the same reason.
const HIGHEST_COST: u32 = 8;

/// Whether HAProxy can check it, or why not.
pub(super) fn check(hash: &str) -> Result<(), &'static str> {
    if let Some(rest) = hash.strip_prefix("$6$") {
        sha(rest, 86)
    } else if let Some(rest) = hash.strip_prefix("$5$") {
        sha(rest, 43)
    } else if let Some(rest) = hash.strip_prefix("$1$") {
        let (salt, digest) = rest.split_once('$').ok_or(CUT_OFF)?;
        if (1..=8).contains(&salt.len()) && digits(salt) && digits(digest) && digest.len() == 22 {
            Ok(())
        } else {
            Err(CUT_OFF)
        }
    } else if let Some(rest) = ["$2y$", "$2b$", "$2a$"].iter().find_map(|prefix| hash.strip_prefix(prefix)) {
        bcrypt(rest)
    } else if hash.starts_with("$apr1$") {
        Err("its hash is Apache's MD5 (`$apr1$`), which crypt(3) does not know")
    } else if hash.starts_with("$y$") || hash.starts_with("$gy$") || hash.starts_with("$7$") {
        Err("its hash is yescrypt or scrypt, which crypt(3) does not know in every image")
    } else if hash.starts_with('{') {
        Err("its hash is of LDAP's kind (`{SHA}`), which crypt(3) does not know")
    } else if hash.starts_with('$') {
        Err("its hash is of a kind that crypt(3) does not know")
    } else if hash.len() == 13 && digits(hash) {
        Ok(())
    } else {
        Err("its password is not hashed")
    }
}

const CUT_OFF: &str = "its hash is not complete";

/// `[rounds=N$]salt$digest`.
fn sha(rest: &str, length: usize) -> Result<(), &'static str> {
    let rest = match rest.strip_prefix("rounds=") {
        Some(rest) => {
            let (rounds, rest) = rest.split_once('$').ok_or(CUT_OFF)?;
            let canonical = !rounds.starts_with('0') && rounds.bytes().all(|b| b.is_ascii_digit());
            match rounds.parse::<u32>() {
                Ok(1_000..=MOST_ROUNDS) if canonical => rest,
                Ok(..1_000) => return Err(CUT_OFF),
                _ => return Err("its hash has more than 20,000 rounds, which would hold up other requests"),
            }
        }
        None => rest,
    };
    let (salt, digest) = rest.split_once('$').ok_or(CUT_OFF)?;
    if (1..=16).contains(&salt.len()) && digits(salt) && digits(digest) && digest.len() == length {
        Ok(())
    } else {
        Err(CUT_OFF)
    }
}

/// `cost$salt-and-digest`.
fn bcrypt(rest: &str) -> Result<(), &'static str> {
    let (cost, digest) = rest.split_once('$').ok_or(CUT_OFF)?;
    if cost.len() != 2 || !digits(digest) || digest.len() != 53 {
        return Err(CUT_OFF);
    }
    match cost.parse::<u32>() {
        Ok(4..=HIGHEST_COST) => Ok(()),
        Ok(9..) => Err("its hash is bcrypt with a cost above 8, which would hold up other requests"),
        _ => Err(CUT_OFF),
    }
}

/// The digits that crypt(3) writes numbers with.
fn digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn only_what_crypt_knows_everywhere_passes() {
        let (x22, x43, x53, x86) = ("x".repeat(22), "x".repeat(43), "x".repeat(53), "x".repeat(86));
        for hash in [
            format!("$6$salt${x86}"),
            format!("$6$rounds=5000$salt${x86}"),
            format!("$5$abcdefghijklmnop${x43}"),
            format!("$1$abcdefgh${x22}"),
            format!("$2y$05${x53}"),
            "rl0uE0z0Fs.mI".to_owned(),
        ] {
            assert_eq!(check(&hash), Ok(()), "{hash}");
        }
        for hash in [
            String::new(),
            "secret".to_owned(),
            "\0".to_owned(),
            "$apr1$abc$xxxxxxxxxxxxxxxxxxxxxx".to_owned(),
            "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=".to_owned(),
            "$y$j9T$abc$def".to_owned(),
            "$3$abc".to_owned(),
            format!("$6$${x86}"),
            format!("$6$salt${x43}"),
            format!("$6$sa lt${x86}"),
            format!("$6$rounds=656000$salt${x86}"),
            format!("$6$rounds=99999999999999$salt${x86}"),
            format!("$6$rounds=5$salt${x86}"),
            format!("$6$rounds=+5000$salt${x86}"),
            format!("$6$salt${x86}\nuser x insecure-password y"),
            format!("$1$abcdefghi${x22}"),
            format!("$2y$12${x53}"),
            format!("$2y$00${x53}"),
            format!("$2y$5${x53}"),
            format!("$2x$05${x53}"),
            "rl0uE0z0Fs.m\"".to_owned(),
        ] {
            assert!(check(&hash).is_err(), "{hash}");
        }
    }
}
