#!/usr/bin/env bash
# Builds the wheel, installs it with the extras of the command line in an environment
# that has nothing else, and runs three commands from an empty folder and home, with
# kernels that are not compiled yet.
#
#     tools/bare_install.sh [FOLDER]
#
# Needs the package registry, for the build and the dependencies, and nothing later.
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
python=${PYTHON:-python3}
mkdir -p "$folder/home" "$folder/work"

"$python" -m venv "$folder/build"
"$folder/build/bin/pip" wheel --quiet --no-deps --wheel-dir "$folder" "$source"
wheel=$(ls "$folder"/thalweg-*.whl)
echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes, of which data" \
  "$("$python" -m zipfile -l "$wheel" | awk '/demo_data/ { sum += $NF } END { print sum }')"

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "$wheel[cli,io,report]"

cd "$folder/work"
printf 'when,x,y\n' > small.csv
awk 'BEGIN { srand(1); for (k = 0; k < 400; k++) { x = rand(); \
  printf "2025-%02d-%02d %02d:00,%.4f,%.4f\n", 1 + int(k / 672), 1 + int(k / 24) % 28, \
  k % 24, x, (k < 200 ? 2 : -1) * x + rand() / 10 } }' >> small.csv
run() {
  echo "== thalweg $*"
  start=$(date +%s)
  env -i HOME="$folder/home" PATH=/usr/bin:/bin LANG=C.UTF-8 COLUMNS=80 \
    "$folder/venv/bin/thalweg" "$@" > output.txt 2>&1 || {
    echo "exit code $?"
    cat output.txt
    exit 1
  }
  tail -n 12 output.txt
  echo "== took $(($(date +%s) - start)) s"
}
run demo
run demo
run reproduce --quick
run run small.csv -t y
