//! Links the release binary statically, and only it: the image of the init container holds nothing else.
//!
//! Cargo can set `+crt-static` for a target but not for one binary, and set for the target it would reach the controller
//! (whose name resolution needs the shared glibc) and the procedural macros (which must be shared libraries). What the
//! flag does is to link `libc.a` in the place of `libc.so`; here a folder before the system's says the same.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let already_static = env::var("CARGO_CFG_TARGET_FEATURE")
        .is_ok_and(|features| features.split(',').any(|f| f == "crt-static"));
    let gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // The default profile stays dynamic: tests then need no static libc and keep their symbols.
    if !gnu || already_static || !is("PROFILE", "release") {
        return Ok(());
    }

    // Text files are linker scripts to GNU ld and to lld. The names are those that the standard library asks for.
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    fs::write(folder.join("libgcc_s.so"), "INPUT(-l:libgcc_eh.a)\n")?;
    // A static libc needs arithmetic of libgcc, and that one memory functions of libc.
    fs::write(folder.join("libc.so"), "GROUP(-l:libc.a -l:libgcc.a -l:libgcc_eh.a)\n")?;
    for library in ["m", "dl", "rt", "pthread", "util"] {
        fs::write(folder.join(format!("lib{library}.so")), format!("INPUT(-l:lib{library}.a)\n"))?;
    }
    // At a fixed address: 50 kB of relocations less, and a process that lives for milliseconds and reads its own files gains
    // little from a random one. Not `rustc-link-search`: that would also reach every crate that uses the library.
    for argument in [&format!("-L{}", folder.display()), "-static", "-no-pie", "-s"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
    Ok(())
}
