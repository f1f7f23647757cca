#!/usr/bin/env bash
# images.sh: builds the images of the tests, without a registry, and prints a line for each: ARCHIVE NAME [FURTHER NAME...].
#
# An archive's name holds a digest of what is in it: what did not change is not built again, and checkouts that share the
# cache do not disturb each other. Images of HAProxy: those of IMAGE_BRANCHES.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
# what building for musl needs
# shellcheck source=scripts/parts/env.sh
source "$REPO/scripts/parts/env.sh"
RECIPE=1 # raise when what is built below changes
IMAGE_BRANCHES=(2.6 3.0 3.2)
sources=$REPO/tests/cluster/images
images=$CACHE/images
case $(uname -m) in
  x86_64) arch=amd64 target=x86_64-unknown-linux-musl ;;
  aarch64) arch=arm64 target=aarch64-unknown-linux-musl ;;
  *) die "images are built on x86_64 and aarch64" ;;
esac

mkdir -p "$images"
# one builder at a time: several checkouts share the cache, and the folder that cargo builds in
exec 9>"$images/lock"; flock 9
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# programs: static ones, in a folder per architecture as the Dockerfiles want them.
programs() {
  local package variable
  # what cargo tells a test about itself would make build scripts run again
  for variable in ${!CARGO_@}; do
    case $variable in CARGO_HOME | CARGO_BUILD_JOBS | CARGO_NET_* | CARGO_TERM_*) ;; *) unset "$variable" ;; esac
  done
  (
    cd "$REPO"
    for package in outrigger outrigger-init outrigger-echo; do
      # one by one: built together, a package would get the features that another one needs
      cargo build --quiet --locked --profile image --target "$target" --target-dir "$CACHE/target-musl" \
        -p "$package" --bin "$package" >&2 9>&-
    done
  )
  mkdir -p "$work/programs/$arch"
  cp "$CACHE/target-musl/$target/image/"outrigger{,-init,-echo} "$work/programs/$arch/"
}

# small_root ROOT TO: HAProxy, a shell and a few tools with their libraries, out of the package's root folder.
small_root() {
  local root=$1 to=$2 program path
  mkdir -p "$to"/usr/{bin,sbin,lib,lib64,local/sbin,local/bin,local/etc/haproxy} "$to"/{etc/ssl/certs,tmp,var/lib/haproxy}
  chmod 1777 "$to/tmp"
  for path in bin sbin lib lib64; do ln -s "usr/$path" "$to/$path"; done
  for program in haproxy socat sh bash cat head ls id env sleep kill; do
    path=$(PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" sh -c "command -v $program")
    # the shell has some of them built in
    [ "${path#/}" != "$path" ] || continue
    copy_file "$root" "$path" "$to"
    while read -r path; do copy_file "$root" "$path" "$to"; done < <(
      chroot "$root" ldd "$path" | grep -oE '/[^ ]+\.so[^ ]*')
  done
  ln -s /usr/sbin/haproxy "$to/usr/local/sbin/haproxy"
  cp "$root/etc/ssl/certs/ca-certificates.crt" "$to/etc/ssl/certs/"
  cp "$sources/docker-entrypoint.sh" "$to/usr/local/bin/"
  # the user and group ids of the official image
  printf '%s\n' root:x:0:0:root:/root:/bin/sh haproxy:x:99:99::/var/lib/haproxy:/usr/sbin/nologin >"$to/etc/passwd"
  printf '%s\n' root:x:0: haproxy:x:99: >"$to/etc/group"
}
copy_file() { mkdir -p "$(dirname "$3$2")"; cp -L "$1$2" "$3$2"; }

# image NAME DOCKERFILE CONTEXT DIGEST FURTHER_NAME...: prints its line; builds the archive when it is not there.
image() {
  local name=$1 dockerfile=$2 context=$3 digest=$4 archive; shift 4
  archive=$images/${name//[:\/]/_}-$digest.tar
  if [ ! -f "$archive" ]; then
    say "building image $name"
    # without a network and a daemon; the files are the same bytes for the same input
    {
      build bud --quiet --isolation chroot --no-cache --timestamp 0 --build-arg "TARGETARCH=$arch" \
        --tag "$name" --file "$dockerfile" "$context" && build push --quiet "$name" "docker-archive:$archive.new:$name"
    } >"$work/log" 2>&1 || { cat "$work/log" >&2; die "image $name cannot be built"; }
    mv "$archive.new" "$archive"
  fi
  touch "$archive"
  echo "$archive $name $*"
}
build() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }
digest_of() { cat "$@" | { echo "$RECIPE $arch"; cat; } | sha256sum | cut -c1-16; }

programs
p=$work/programs
d=$(digest_of "$REPO/Dockerfile.controller" "$p/$arch/outrigger")
# also as the chart names them, so that it can be installed with no option set
released=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' "$REPO/Cargo.toml")
image localhost/outrigger:test "$REPO/Dockerfile.controller" "$p" "$d" localhost/outrigger:test2 \
  "ghcr.io/outrigger-io/outrigger:$released"
d=$(digest_of "$REPO/Dockerfile.init" "$p/$arch/outrigger-init")
image localhost/outrigger-init:test "$REPO/Dockerfile.init" "$p" "$d" "ghcr.io/outrigger-io/outrigger-init:$released"
d=$(digest_of "$sources/Dockerfile.echo" "$p/$arch/outrigger-echo")
# what the examples name, so that they run as they are on a node that reaches no registry
image localhost/echo:test "$sources/Dockerfile.echo" "$p" "$d" docker.io/hashicorp/http-echo:1.0
d=$(digest_of "$sources/Dockerfile.pause" "$p/$arch/outrigger-echo")
image localhost/pause:3.10 "$sources/Dockerfile.pause" "$p" "$d"

for branch in "${IMAGE_BRANCHES[@]}"; do
  home=$CACHE/haproxy/$branch
  [ -x "$home/root/usr/sbin/haproxy" ] || die "HAProxy $branch is missing; run scripts/parts/haproxy.sh $branch"
  d=$(digest_of "$sources/Dockerfile.haproxy" "$sources/docker-entrypoint.sh" "$home/stamp" "${BASH_SOURCE[0]}")
  if [ ! -f "$images/localhost_haproxy_$branch-$d.tar" ]; then small_root "$home/root" "$work/$branch/root"; fi
  further=() # as the chart names it
  [ "$branch" != 3.2 ] || further=(docker.io/library/haproxy:3.2)
  image "localhost/haproxy:$branch" "$sources/Dockerfile.haproxy" "$work/$branch" "$d" "${further[@]}"
done

# The same with the file capability of docs/privileged-ports.md.
home=$CACHE/haproxy/3.2
d=$(digest_of "$sources/Dockerfile.haproxy" "$sources/docker-entrypoint.sh" "$home/stamp" "${BASH_SOURCE[0]}")
if [ ! -f "$images/localhost_haproxy-setcap_3.2-$d.tar" ]; then
  small_root "$home/root" "$work/setcap/root"
  setcap cap_net_bind_service=+ep "$work/setcap/root/usr/sbin/haproxy"
fi
image localhost/haproxy-setcap:3.2 "$sources/Dockerfile.haproxy" "$work/setcap" "$d"

# what nobody has used for a week
find "$images" -name '*.tar*' -mtime +7 -delete
