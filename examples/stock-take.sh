#!/bin/sh
# Sets the counts of many pets. Reads lines of the form "petId quantity" from standard input.
# Each line has its own Idempotency-Key, so a retry never overwrites a newer count.
# After a 429 or a 503 it waits for Retry-After, so that the key is not banned. It adds a random delay
# whose upper bound doubles with each retry, so that several loops do not retry at the same time.
set -eu
base=${BASE_URL:-http://127.0.0.1:8080/v1}
key=${API_KEY:?set API_KEY to your key}
attempts_max=8
run=$(date +%s)-$$
line=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the status, or 000 if there is no response. Writes the headers and the body to $work.
set_count() {
  curl -sS -X PATCH -o "$work/body" -D "$work/headers" -w '%{http_code}' \
    -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
    -H "Idempotency-Key: $run-$line" -H 'X-Change-Reason: Stocktake' \
    -d "{\"quantity\": $2}" "$base/inventory/$1" || true
}

retry_after() {
  sed -n 's/^[Rr]etry-[Aa]fter: \([0-9]*\).*/\1/p' "$work/headers" 2>/dev/null || true
}

# Prints a random number from 0 to $1 - 1. $2 varies the seed.
random_below() {
  awk -v bound="$1" -v seed="$$$2" 'BEGIN { srand(seed); print int(rand() * bound) }'
}

# The condition after || handles a last line without a line feed.
while read -r pet quantity || [ -n "$pet" ]; do
  line=$((line + 1))
  attempt=1
  bound=1
  while :; do
    : >"$work/headers"
    status=$(set_count "$pet" "$quantity")
    case $status in
      200) echo "$pet: $quantity"; break ;;
      429 | 503 | 000) ;;
      *) echo "$pet: error, $(cat "$work/body")" >&2; break ;;
    esac
    if [ "$attempt" -ge "$attempts_max" ]; then
      echo "$pet: failed after $attempt attempts" >&2
      exit 1
    fi
    wait=$(retry_after)
    sleep $((${wait:-1} + $(random_below "$bound" "$attempt")))
    attempt=$((attempt + 1))
    bound=$((bound < 60 ? bound * 2 : 60))
  done
done
