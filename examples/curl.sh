#!/bin/sh
# The API by hand: list the stock, set one count, and ask again only for news.
set -eu
base=${BASE_URL:-http://127.0.0.1:8080/v1}
key=${API_KEY:?set API_KEY to your key}
auth="Authorization: Bearer $key"

echo "All stock:"
curl -fsS -H "$auth" "$base/inventory"
echo

# petId is the first number of the list; any id you know will do.
pet=$(curl -fsS -H "$auth" "$base/inventory" | sed -n 's/^\[{"petId":\(-\{0,1\}[0-9]*\).*/\1/p')
echo "Pet $pet, counted anew:"
curl -fsS -X PATCH -H "$auth" -H 'Content-Type: application/json' \
  -d '{"quantity": 12}' "$base/inventory/$pet"
echo

# The ETag names the list as it is. While nothing changes, asking with it brings 304 and no body.
etag=$(curl -fsS -o /dev/null -D - -H "$auth" "$base/inventory" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p')
status=$(curl -sS -o /dev/null -w '%{http_code}' -H "$auth" -H "If-None-Match: $etag" "$base/inventory")
echo "Asked again with If-None-Match: $status"
