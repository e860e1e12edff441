# shellcheck shell=bash
# Sourced by Tools/run, Tools/test and Tools/compare-peers: finds the Swift toolchain and the C
# libraries, and installs the libraries with apt where they are missing. Stays offline when
# everything is there.

# What is needed: how its presence is seen (a command, a library that pkg-config knows, a file by
# a pattern), and the Debian package that brings it. A script may add to it.
setup_needs=(
    "command:pkg-config:pkg-config"
    "command:protoc-c:protobuf-c-compiler"
    "library:rocksdb:librocksdb-dev"
    "library:openssl:libssl-dev"
    "library:libuv:libuv1-dev"
    "library:libprotobuf-c:libprotobuf-c-dev"
    "library:libcurl:libcurl4-openssl-dev"
    "library:libmicrohttpd:libmicrohttpd-dev"
)

# The oldest toolchain that builds this package.
setup_swift_major=6
setup_swift_minor=2

setup_fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

# Prints the Debian packages that are missing, one a line.
setup_missing_packages() {
    local need kind name package
    for need in "${setup_needs[@]}"; do
        IFS=: read -r kind name package <<<"$need"
        case "$kind" in
            command) command -v "$name" >/dev/null 2>&1 || echo "$package" ;;
            library) pkg-config --exists "$name" 2>/dev/null || echo "$package" ;;
            file) compgen -G "$name" >/dev/null || echo "$package" ;;
        esac
    done
}

# Runs apt-get as root, by sudo where we are not.
setup_apt() {
    local privilege=()
    if [ "$(id -u)" -ne 0 ]; then privilege=(sudo -n); fi
    "${privilege[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"
}

setup_libraries() {
    local missing=()
    mapfile -t missing < <(setup_missing_packages)
    if [ "${#missing[@]}" -eq 0 ]; then return; fi
    local by_hand="install them by hand: apt-get install ${missing[*]}"
    if ! command -v apt-get >/dev/null 2>&1; then
        setup_fail "these Debian packages are missing and there is no apt-get here:" \
            "${missing[*]}; install what brings the same libraries"
    fi
    if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
        setup_fail "these packages are missing, and this user may not install them;" "$by_hand"
    fi
    printf 'setup: installing %s\n' "${missing[*]}" >&2
    # The lists of packages may be old or absent; an install that works without an update is
    # faster, and works where only a part of the sources can be reached.
    if ! setup_apt install --no-install-recommends "${missing[@]}" >&2; then
        setup_apt update >&2 || setup_fail "apt-get update failed; $by_hand"
        setup_apt install --no-install-recommends "${missing[@]}" >&2 ||
            setup_fail "apt-get install failed; $by_hand"
    fi
    mapfile -t missing < <(setup_missing_packages)
    if [ "${#missing[@]}" -ne 0 ]; then setup_fail "still missing: ${missing[*]}"; fi
}

# Prints "MAJOR MINOR" of the toolchain at $1, nothing when there is none.
setup_swift_version() {
    "$1" --version 2>/dev/null |
        sed -n 's/.*Swift version \([0-9][0-9]*\)\.\([0-9][0-9]*\).*/\1 \2/p' | head -n 1
}

setup_toolchain() {
    local candidates=() candidate version major minor found=""
    candidate="$(command -v swift 2>/dev/null || true)"
    if [ -n "$candidate" ]; then candidates+=("$candidate"); fi
    candidates+=(
        /opt/swift*/usr/bin/swift
        /usr/bin/swift
        "${SWIFTLY_BIN_DIR:-${HOME:-}/.local/share/swiftly/bin}/swift"
    )
    for candidate in "${candidates[@]}"; do
        if [ ! -x "$candidate" ]; then continue; fi
        # A toolchain that does not run, for want of a library, is none.
        version="$(setup_swift_version "$candidate" || true)"
        if [ -z "$version" ]; then continue; fi
        read -r major minor <<<"$version"
        found="$found $candidate ($major.$minor)"
        if ((major > setup_swift_major ||
            (major == setup_swift_major && minor >= setup_swift_minor))); then
            PATH="$(dirname "$candidate"):$PATH"
            export PATH
            return
        fi
    done
    setup_fail "Swift $setup_swift_major.$setup_swift_minor or newer is needed, found:" \
        "${found:-none}; see https://www.swift.org/install/"
}

# Everything that building, testing and running need.
setup_all() {
    setup_toolchain
    setup_libraries
}
