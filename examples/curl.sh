#!/bin/sh
# Lists the stock, sets one count, sells one pet safely, shows its history, and uses an ETag to download the
# list only if it changed.
set -eu
base=${BASE_URL:-http://127.0.0.1:8080/v1}
key=${API_KEY:?set API_KEY to your key}
auth="Authorization: Bearer $key"

echo "Stock of all pets:"
curl -fsS -H "$auth" "$base/inventory"
echo

# This uses the first petId in the list. You can use any petId.
pet=$(curl -fsS -H "$auth" "$base/inventory" | sed -n 's/^\[{"petId":\(-\{0,1\}[0-9]*\).*/\1/p')
echo "New count for pet $pet:"
curl -fsS -X PATCH -H "$auth" -H 'Content-Type: application/json' \
  -d '{"quantity": 12}' "$base/inventory/$pet"
echo

# If the response is lost, send the same request again: with the same Idempotency-Key it is applied once.
echo "Sale of one of pet $pet:"
curl -fsS -H "$auth" -H 'Content-Type: application/json' -H "Idempotency-Key: \"sale-$(date +%s)-$$\"" \
  -d "{\"changes\": [{\"petId\": $pet, \"delta\": -1, \"reason\": \"sale\"}]}" "$base/changes"
echo

echo "The last change of pet $pet:"
curl -fsS -H "$auth" "$base/inventory/$pet/history?limit=1"
echo

# The ETag identifies this version of the list. If nothing changed, the response is a 304 without a body.
etag=$(curl -fsS -o /dev/null -D - -H "$auth" "$base/inventory" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p')
status=$(curl -sS -o /dev/null -w '%{http_code}' -H "$auth" -H "If-None-Match: $etag" "$base/inventory")
echo "Status of a request with If-None-Match: $status"
