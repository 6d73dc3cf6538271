import { planNames, plans } from "../../../domain/limits/plans.ts";

/** The introduction of the API description: what all operations have in common. */
export const overview = `This API reads and updates the stock levels of a pet store over HTTP, in JSON. One request reads the whole inventory. Others set the stock count of one pet, or change many at once.

## Authentication

Send an API key with every request, in the header \`Authorization: Bearer <API_KEY>\`. The operator of the store issues keys. The scopes of a key define which operations the key can call. Each operation lists the scope that it requires.

A key is a secret. Keep it on your server. Do not put it in web pages or source code.

## First request

Set \`BASE_URL\` to the base URL of your environment and \`API_KEY\` to your key. Then list the inventory:

\`\`\`sh
curl -i \\
  -H "Authorization: Bearer $API_KEY" \\
  "$BASE_URL/inventory"
\`\`\`

The response is a JSON array with one entry for each pet. In TypeScript, the package \`petstore-inventory-client\` does this with \`client.listInventory()\`. Its README shows a call for each task, and lists the methods.

## Environments

Production and staging have separate base URLs, data and keys. Every base URL ends in \`/v1\`. Production keys start with \`psk_live_\`, staging keys with \`psk_test_\`. A request with a key from the other environment returns 401.

## Safe updates

An update replaces the old count. Two things can go wrong: a retry can revert a newer count, and two clients can overwrite each other. Three features prevent this.

*Retries.* Send an \`Idempotency-Key\` with \`PATCH /inventory/{petId}\` or \`POST /changes\`. If you get no response, send the same request with the same key again until you get one. The change is made once. A repeated request returns the first result with \`Idempotent-Replayed: true\`, even from another instance or after a restart. A request that failed is not remembered. The same key with a different request returns 422. Results are kept for 7 days unless the operator sets another time.

*Conditions.* Read the entry with \`GET /inventory/{petId}\`, and send its whole \`ETag\`, quotes included, in \`If-Match\`. If the entry has changed since, the response is 412 with the current quantity, version and \`ETag\`. Decide again and retry.

*Differences.* Send \`delta\` instead of \`quantity\` in \`POST /changes\`. Deltas of several clients add up, so they need no condition. A delta that would make the stock negative returns 409.

## History

Every change to a pet's stock is a row in the ledger: the stock before and after, the time, the API key and the reason. Rows are numbered without gaps (\`seq\`) and never change. Send a reason with your updates: \`reason\` in \`POST /changes\`, \`X-Change-Reason\` with \`PATCH\`.

\`GET /changes\` lists all changes, and \`GET /inventory/{petId}/history\` those of one pet. \`GET /snapshots/{moment}\` returns the whole inventory as it was at a time or a \`seq\`. \`GET /changes/head\` returns a hash over the whole ledger. Keep it, and you can check later that no row was altered. These operations need the scope \`history:read\`.

To receive every change as it happens, read the feed: \`GET /changes\` with \`Accept: text/event-stream\`. It sends changes as server-sent events. When you reconnect, it continues where you stopped.

To receive changes at an address of yours, ask the operator for a webhook. Its messages are under \`webhooks\` in \`openapi.json\`, which is OpenAPI 3.1. OpenAPI 3.0 has no place for them, so \`openapi-3.0.json\` does not describe them.

## Rate limits

The plan of a key limits its requests per minute and per day. Both limits have fixed windows, which reset at the start of every minute and of every day in UTC. Each request counts against both limits.

${planTable()}

In every response, \`X-RateLimit-Remaining\` is the number of requests left, and \`X-RateLimit-Reset\` is the time when the window resets, in Unix seconds. Requests without a valid key are limited per minute, by client address.

A request over a limit returns 429 and is not counted. Wait the number of seconds in \`Retry-After\`, then retry. If the response is 429 again, double the wait each time. If a client keeps sending requests without waiting, its key is temporarily banned. By default, the first ban lasts five minutes, and repeated bans last longer.

## Responses

Response bodies are JSON in UTF-8. A status from 200 to 299 means success. All other statuses except 304 are errors.

Every response has an \`X-Request-Id\` and the rate limit headers. The inventory, its entries and snapshots have an \`ETag\`, which identifies their version. Send it in \`If-None-Match\` with the next request. While nothing has changed, the response is 304 without a body, and your copy is current.

If a list has several pages, \`Link\` contains the URL of the next page. The last page has no \`Link\`.

## Errors

Every error has the same JSON body. \`code\` identifies the error for your program, \`message\` explains it to people, and \`status\` is the HTTP status. The error of a batch can also have \`details\`, with every change that is at fault.

An unknown path returns 404, and the message names a similar path if there is one. Operations that send \`X-Stability: beta\` reject query parameters and fields that they do not know; the message names the nearest known one, or lists all. A method that the path does not support returns 405, and \`Allow\` lists the supported methods. Without a valid key, the response is 401 in both cases. A request with an invalid \`Host\` header, or with several \`Host\` headers, returns 400.

A request that is not valid HTTP gets a response without a body and without the headers of this API, or no response. All other responses have an \`X-Request-Id\`. Include it when you report a problem.

## Versioning

The version in the path, \`/v1\`, changes only when a change can break clients. New fields, error codes and operations can appear at any time. Ignore fields you do not know, and handle an unknown error code by its HTTP status.

Operations that send \`X-Stability\` can change within \`/v1\`: \`experimental\` operations without notice, \`beta\` operations with notice. Operations that send \`Deprecation\` work until the date in \`Sunset\`, then return 410.

## Large numbers

Identifiers are signed 64-bit integers, sent as JSON numbers. JavaScript's \`JSON.parse\` rounds integers beyond ±2^53. Use a parser that keeps all digits, or the TypeScript client, which returns identifiers as \`bigint\`. Quantities never exceed 2^53 − 1, so they are always exact.

## HEAD, OPTIONS and CORS

\`HEAD\` works wherever \`GET\` does and returns the same headers without a body. \`OPTIONS\` needs no key and returns 204 with \`Allow\`.

Web pages from other origins can call the API if the operator allows their origin. Their scripts can read the rate limit and versioning headers, \`Retry-After\`, \`ETag\`, \`Link\`, \`Date\`, \`Content-Location\`, \`Idempotent-Replayed\` and \`X-Request-Id\`.`;

/** The plans with their limits, also for README.md. */
export function planTable(): string {
  const rows = planNames.map((plan) => {
    const limits = plans[plan];
    const cells = limits
      ? [limits.perMinute, limits.perDay].map((count) => count.toLocaleString("en"))
      : ["agreed per key", "agreed per key"];
    return `| ${[plan[0]!.toUpperCase() + plan.slice(1), ...cells].join(" | ")} |`;
  });
  return ["| Plan | Per minute | Per day |", "|---|---|---|", ...rows].join("\n");
}
