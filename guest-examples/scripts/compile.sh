# Sourced by guest-examples/build: compiles every guest whose result is checked in, into $scratch/built, under the paths
# that the results have in the project.

# The one contributor that is also kept as a core module: the host turns such a file into a component itself, and its
# tests need one to turn.
readonly core_example=deployment-region

compile_all() {
    # A Rust guest is built for wasm32-unknown-unknown unless its Cargo.toml says otherwise.
    local manifest name plain=() wasi=()
    for manifest in "$workspace"/*/Cargo.toml; do
        name=$(basename "${manifest%/Cargo.toml}")
        if grep -q '^target = "wasm32-wasip2"$' "$manifest"; then wasi+=("$name"); else plain+=("$name"); fi
    done

    compile_rust "$workspace" wasm32-unknown-unknown "${plain[@]}"
    for name in "${plain[@]}"; do
        local core=$target_dir/wasm32-unknown-unknown/release/${name//-/_}.wasm
        componentize "$core" "$(new_file "$workspace/$name/$name.wasm")" || die "cannot make a component of $core"
        if [[ $name == "$core_example" ]]; then
            cp "$core" "$(new_file "$workspace/$name/$name.core.wasm")"
        fi
    done
    compile_rust "$workspace" wasm32-wasip2 "${wasi[@]}"
    for name in "${wasi[@]}"; do
        cp "$target_dir/wasm32-wasip2/release/${name//-/_}.wasm" "$(new_file "$workspace/$name/$name.wasm")"
    done
    compile_rust "$probe" wasm32-wasip2 probe
    cp "$target_dir/wasm32-wasip2/release/probe.wasm" "$(new_file "$probe/probe.wasm")"

    for name in "$top"/guest-examples/c/*/build; do
        name=$(basename "${name%/build}")
        with_c "$top/guest-examples/c/$name/build" "$(new_file "$top/guest-examples/c/$name/$name.wasm")" ||
            die "cannot build guest-examples/c/$name: see above"
    done

    refuse_paths_of_this_machine
}

# Where the result goes that belongs at a path of the project.
new_file() {
    local file=$scratch/built/${1#"$top/"}
    mkdir -p "$(dirname "$file")"
    echo "$file"
}

# compile_rust WORKSPACE TARGET PACKAGE...
compile_rust() {
    with_rust cargo_build "$@" || die "cargo build failed: see above"
    local name
    for name in "${@:3}"; do
        [[ -f $target_dir/$2/release/${name//-/_}.wasm ]] ||
            die "$name made no ${name//-/_}.wasm: its package must be called $name, with crate-type cdylib"
    done
}

cargo_build() {
    local folder=$1 target=$2 name packages=() locked=()
    for name in "${@:3}"; do packages+=(--package "$name"); done
    [[ $mode == check ]] && locked=(--locked)

    # Whatever else a shell has set for cargo would be in the bytes.
    for name in "${!CARGO_PROFILE_@}" "${!CARGO_BUILD_@}" RUSTFLAGS RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER; do
        unset "$name"
    done

    cd "$folder"
    # The folders of the crates must exist before they can be remapped.
    cargo fetch --quiet "${locked[@]}" || return
    # The stack is that of .cargo/config.toml, which these flags displace.
    local flags=("-Clink-arg=-zstack-size=65536" "--remap-path-prefix=$top=/dsh-env") sources
    for sources in "$cargo_home"/registry/src/*/; do
        flags+=("--remap-path-prefix=${sources%/}=/crates")
    done
    local build_std=()
    if [[ $toolchain_kind == debian ]]; then
        # As in a standard library that rustup installs.
        local commit
        commit=$(rustc_in_use -vV | sed -n 's/^commit-hash: //p')
        flags+=("--remap-path-prefix=${debian_std%/library}=/rustc/$commit")
        # Without features: backtraces are half of the time, and a module without names has none.
        build_std=("-Zbuild-std=std,panic_abort" -Zbuild-std-features=)
        if [[ $target == wasm32-wasip2 ]]; then
            # Rustup's standard library has a C library in it, Debian's does not.
            flags+=(-Clink-self-contained=no "-Clink-arg=-L$c_dir/usr/lib/wasm32-wasi")
        fi
    fi
    local IFS=$'\x1f'
    CARGO_ENCODED_RUSTFLAGS="${flags[*]}" CARGO_TARGET_DIR=$target_dir \
        cargo build --release --target "$target" "${packages[@]}" "${locked[@]}" "${build_std[@]}"
}

# componentize CORE COMPONENT
#
# wasm-component-ld has wasm-ld link and makes a component of the outcome. Here cargo has linked already, so the linker
# that it gets hands over what there is: a second link would be a second build of everything, since cargo keeps no
# artefacts for two linkers.
componentize() {
    local linked=$scratch/hand-over
    cat >"$linked" <<'LINKER'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
exec cp "$CORE_MODULE" "$2"
LINKER
    chmod +x "$linked"
    CORE_MODULE=$1 "$tools/wasm-component-ld" --wasm-ld-path="$linked" -o "$2"
}

refuse_paths_of_this_machine() {
    local path found
    for path in "$top" "$cargo_home" "$rust_dir" "$c_dir"; do
        if found=$(grep -rlaF -- "$path/" "$scratch/built"); then
            die "${found#"$scratch/built/"} contains the path $path, so that no other machine can build the same"
        fi
    done
}
