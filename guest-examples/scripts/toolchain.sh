# Sourced by guest-examples/build: finds the compilers, or downloads and unpacks Debian's.

# Sets what every other part uses:
#   toolchain_kind   rustup or debian, where Rust's standard library comes from
#   tools            the folder of rustup's rust-lld and wasm-component-ld, which both kinds use
#   rust_dir c_dir   where Debian's packages are unpacked; c_dir with both kinds
choose_toolchain() {
    command -v cargo >/dev/null || die "no cargo: install Rust with rustup"
    local rustc=${RUSTC:-rustc} sysroot host
    # Inside the workspace, where rustup looks for the toolchain that a project asks for.
    sysroot=$(cd "$workspace" && "$rustc" --print sysroot) || die "$rustc does not run: install Rust with rustup"
    host=$("$rustc" -vV | sed -n 's/^host: //p')
    tools=$sysroot/lib/rustlib/$host/bin
    if [[ ! -x $tools/wasm-component-ld ]]; then
        # A rustc from elsewhere brings no linkers of its own; the one that rustup would choose does.
        sysroot=$(cd "$workspace" && rustc --print sysroot) || die "no rustc on PATH: install Rust with rustup"
        tools=$sysroot/lib/rustlib/$host/bin
    fi
    [[ -x $tools/rust-lld && -x $tools/wasm-component-ld ]] ||
        die "no rust-lld and wasm-component-ld in $tools: install Rust with rustup"

    toolchain_kind=$1
    local missing=() target
    for target in wasm32-unknown-unknown wasm32-wasip2; do
        [[ -d $("$rustc" --print target-libdir --target "$target") ]] || missing+=("$target")
    done
    case $toolchain_kind,${#missing[@]} in
    auto,0) toolchain_kind=rustup ;;
    auto,*) toolchain_kind=debian ;;
    rustup,0 | debian,*) ;;
    *) die "$rustc lacks targets: run 'rustup target add ${missing[*]}', or use --toolchain debian" ;;
    esac

    rust_dir=${GUEST_TOOLCHAIN_DIR:-$top/target/guest-toolchain}
    c_dir=$rust_dir-c
    unpack_c
    if [[ $toolchain_kind == debian ]]; then
        unpack_rust
        debian_std=$(echo "$rust_dir"/usr/src/rustc-*/library)
    fi
}

unpack_rust() {
    [[ -e $rust_dir/complete ]] && return
    read_package_lists rustc-web
    # These two have a version in their names.
    local libstd libllvm
    libstd=$(apt-cache depends libstd-rust-web-dev | sed -n 's/^ *Depends: \(libstd-rust-web-[0-9.]*\)$/\1/p')
    libllvm=$(apt-cache depends "$libstd" | sed -n 's/^ *Depends: \(libllvm[0-9.]*\)$/\1/p')
    [[ -n $libstd && -n $libllvm ]] || die "the package lists have no usable rustc-web: run 'rustup target add'"
    say "downloading Debian's Rust toolchain (140 MB, once)"
    unpack "$rust_dir" usr/bin/rustc rust-web-src rustc-web libstd-rust-web-dev "$libstd" "$libllvm"
}

# A C compiler and C library: what the C example is built with, and what Debian's Rust links for wasm32-wasip2.
unpack_c() {
    [[ -e $c_dir/complete ]] && return
    read_package_lists clang-22
    say "downloading Debian's C toolchain for WebAssembly (46 MB, once)"
    unpack "$c_dir" usr/lib/llvm-22/bin/clang wasi-libc \
        clang-22 libclang-common-22-dev libclang-cpp22 libclang-rt-22-dev-wasm32 libllvm22 lld-22
}

read_package_lists() {
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
        die "no Debian packages here to take the compilers from: run this in a container of Debian"
    if ! apt-cache show "$1" >/dev/null 2>&1; then
        say "reading Debian's package lists"
        apt-get -qq update || die "apt-get update failed: run it as root"
    fi
}

# unpack DIR PROGRAM PACKAGE...
#
# Leaves the packages in DIR, and in DIR/complete the version of the first one. DIR is filled under another name and
# renamed, so that one that was interrupted is never taken for complete. PROGRAM is looked at for missing libraries.
unpack() {
    local dir=$1 program=$2 partial package missing
    shift 2
    if [[ -e $dir ]]; then
        die "$dir exists and is no toolchain: set GUEST_TOOLCHAIN_DIR to a folder that does not exist yet"
    fi
    mkdir -p "$(dirname "$dir")"
    partial=$(mktemp -d "$dir.partial.XXXXXX")
    remove_at_exit+=("$partial")
    (cd "$partial" && apt-get -qq -o APT::Sandbox::User=root download "$@" >&2) ||
        die "apt-get download failed: run 'apt-get update' as root, then this again"
    for package in "$partial"/*.deb; do
        dpkg-deb -x "$package" "$partial" || die "cannot unpack ${package##*/} into $partial"
    done
    dpkg-deb -f "$partial/$1"_*.deb Version >"$partial/complete"
    rm "$partial"/*.deb

    missing=$(LD_LIBRARY_PATH=$(libraries_in "$partial") ldd "$partial/$program" |
        awk '/not found/ { print $1 }' | sort -u | paste -sd' ')
    [[ -z $missing ]] || die "Debian's $program lacks $missing: install the packages that have them"

    # Another run may have been faster; what it unpacked is as good.
    mv -T "$partial" "$dir" 2>/dev/null || [[ -e $dir/complete ]] || die "cannot rename $partial to $dir"
}

libraries_in() { echo "$1"/usr/lib/*-linux-gnu; }

# What the bytes of a guest depend on besides its sources. Two builds for which this prints the same are the same.
describe_toolchain() {
    with_rust rustc_in_use -vV | sed -n '1p; /^LLVM version/p'
    case $toolchain_kind in
    rustup) echo "standard library as rustup installs it" ;;
    debian) echo "standard library from Debian's rust-web-src $(<"$rust_dir/complete")" ;;
    esac
    (cd "$workspace" && cargo -V)
    "$tools/rust-lld" -flavor wasm --version | sed 's/(.* /(/'
    "$tools/wasm-component-ld" --version
    with_c clang-22 --version | sed -n 1p
    with_c wasm-ld-22 --version
    echo "Debian's wasi-libc $(<"$c_dir/complete")"
}

rustc_in_use() { (cd "$workspace" && "${RUSTC:-rustc}" "$@"); }

# Runs a command in the environment of the chosen Rust.
with_rust() (
    if [[ $toolchain_kind == debian ]]; then
        export RUSTC=$rust_dir/usr/bin/rustc
        LD_LIBRARY_PATH=$(libraries_in "$rust_dir")
        export LD_LIBRARY_PATH
        export __CARGO_TESTS_ONLY_SRC_ROOT=$debian_std
        # Building a standard library is not a stable feature of cargo or rustc.
        export RUSTC_BOOTSTRAP=1
        export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$tools/rust-lld
        export CARGO_TARGET_WASM32_WASIP2_LINKER=$tools/wasm-component-ld
        # There wasm-component-ld finds its wasm-ld.
        export PATH=$tools/gcc-ld:$PATH
    fi
    "$@"
)

# Runs a command in the environment of Debian's clang.
with_c() (
    LD_LIBRARY_PATH=$(libraries_in "$c_dir")
    export LD_LIBRARY_PATH
    export WASI_SYSROOT=$c_dir/usr PATH=$c_dir/usr/bin:$PATH
    "$@"
)
