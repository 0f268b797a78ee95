#!/bin/sh
# Compiles races.cu with nvcc, which needs no GPU, and writes the launch files.
set -e
cd "$(dirname "$0")"
nvcc -ptx -std=c++17 -arch=sm_90 -lineinfo races.cu -o races.ptx
# Older drivers read it, too, if it has the version that its instructions need.
sed -i 's|^\(.*\.file.*"\).*/|\1|; s|^\.version .*|.version 8.3|' races.ptx
launch() { # kernel, finding or nothing, grid, block, buffers
    {
        printf 'ptx = "races.ptx"\nentry = "%s"\ngrid = %s\nblock = %s\n' "$1" "$3" "$4"
        [ -z "$2" ] || printf 'finding = "%s"\n' "$2"
        printf '%b' "$5"
    } >"$1.toml"
}
input='\n[buffers.x]\ntype = "i32"\nlength = 128\nfill = "index"\n'
total='arguments = ["x", "sum"]\n'"$input"'\n[buffers.sum]\ntype = "i32"\nlength = 1\nfill = 0\nexpect = 8128\nprint = true\n'
launch total_lost 'data race' 4 32 "$total"
launch total_kept '' 4 32 "$total"
ticket='arguments = ["x", "partials", "sum"]\n'"$input"'\n[buffers.partials]\ntype = "i32"\nlength = 4\n\n[buffers.sum]\ntype = "i32"\nlength = 1\nexpect = 8128\nprint = true\n'
launch ticket_without_fence 'data race' 4 32 "$ticket"
launch ticket_with_fence '' 4 32 "$ticket"
out() { printf 'arguments = ["x", "out"]\n%s\n[buffers.out]\ntype = "i32"\nlength = %s\nprint = true\n' "$input" "$1"; }
launch copy_in_flight 'asynchronous copy in use' 1 32 "$(out 32)"
launch copy_waited_for '' 1 32 "$(out 32)"
launch phase_seen_by_one 'data race' 1 64 "$(out 64)"
launch phase_seen_by_all '' 1 64 "$(out 64)"
launch store_without_proxy_fence 'missing proxy fence' 1 64 "$(out 64)"
launch store_with_proxy_fence '' 1 64 "$(out 64)"
