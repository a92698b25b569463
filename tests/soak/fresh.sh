#!/usr/bin/env bash
# What a newcomer does, with README.md to the letter: clones, runs `make run` with an empty cache of
# pip, creates the first project, feature and application, and starts once more. Needs port 4242.
#
#   tests/soak/fresh.sh [ARGUMENT OF MAKE]...      for example PYTHON=/usr/bin/python3.11
set -euo pipefail
checkout="$(cd "$(dirname "$0")/../.." && pwd)"
folder=$(mktemp -d)
server=
end() {
    [ -z "$server" ] || kill -TERM -- "-$server" || true
    rm -rf "$folder"
}
trap end EXIT

git clone --quiet "$checkout" "$folder/flagstaff"
cd "$folder/flagstaff"
export PIP_CACHE_DIR="$folder/cache" PIP_CONFIG_FILE=/dev/null FLAGSTAFF_TOKEN
unset PIP_FIND_LINKS
FLAGSTAFF_TOKEN=$(python3 -c "import secrets; print(secrets.token_urlsafe(40))")

run() { # starts the server in a process group of its own and waits until it listens
    SECONDS=0
    setsid make run "$@" >"$folder/log" 2>&1 &
    server=$!
    until grep -q "Flagstaff listens on" "$folder/log"; do
        kill -0 "$server" || { cat "$folder/log"; exit 1; }
        sleep 0.2
    done
    cat "$folder/log"
    echo "== listens after $SECONDS s"
}
stop() {
    kill -TERM -- "-$server"
    wait "$server" || true
    server=
}

echo "== the first start"
FLAGSTAFF_BOOTSTRAP_TOKEN=$FLAGSTAFF_TOKEN run "$@"
awk '/^```/ { shown = $0 == "```bash"; next } shown' README.md >"$folder/commands"
bash -eu "$folder/commands" | cut -c1-200
stop

echo "== the second start"
run "$@"
stop
echo "== everything in README.md worked"
