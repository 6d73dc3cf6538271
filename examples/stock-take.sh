#!/bin/sh
# Sets the counts of many pets: one "petId quantity" a line on standard input.
# After 429 or 503 it waits for as long as Retry-After says, plus a random pause whose bound doubles
# with each refusal in a row, so that a key is never banned and many such loops do not march in step.
set -eu
base=${BASE_URL:-http://127.0.0.1:8080/v1}
key=${API_KEY:?set API_KEY to your key}
attempts_max=8

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the status; leaves the headers and the body of the answer in $work. 000 is no answer.
set_count() {
  curl -sS -X PATCH -o "$work/body" -D "$work/headers" -w '%{http_code}' \
    -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
    -d "{\"quantity\": $2}" "$base/inventory/$1" || true
}

retry_after() {
  sed -n 's/^[Rr]etry-[Aa]fter: \([0-9]*\).*/\1/p' "$work/headers" 2>/dev/null || true
}

below() {
  awk -v bound="$1" -v seed="$$$2" 'BEGIN { srand(seed); print int(rand() * bound) }'
}

# The last line counts too where no line feed ends it.
while read -r pet quantity || [ -n "$pet" ]; do
  attempt=1
  bound=1
  while :; do
    : >"$work/headers"
    status=$(set_count "$pet" "$quantity")
    case $status in
      200) echo "$pet: $quantity"; break ;;
      429 | 503 | 000) ;;
      *) echo "$pet: refused, $(cat "$work/body")" >&2; break ;;
    esac
    if [ "$attempt" -ge "$attempts_max" ]; then
      echo "$pet: given up after $attempt attempts" >&2
      exit 1
    fi
    wait=$(retry_after)
    sleep $((${wait:-1} + $(below "$bound" "$attempt")))
    attempt=$((attempt + 1))
    bound=$((bound < 60 ? bound * 2 : 60))
  done
done
