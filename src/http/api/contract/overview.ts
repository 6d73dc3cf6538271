import { planNames, plans } from "../../../domain/plans.ts";

/** The opening of the API description: what every operation has in common, told once. */
export const overview = `Stock levels of a pet store, over HTTP and JSON. Read the whole inventory with one request, set the count of one pet with another.

## Keys

Every request carries an API key: \`Authorization: Bearer <API_KEY>\`. Keys come from the operator of the store, belong to one environment (\`psk_live_…\` production, \`psk_test_…\` staging), and hold scopes that say which operations they open. A key is a password: keep it on a server of yours, out of pages and repositories.

## Limits

A key's plan says how many requests it has in a minute and in a day. Both windows are fixed, in UTC, and a request needs room in both.

${planTable()}

Every answer tells how much is left in \`X-RateLimit-Remaining\`, and when the window starts anew in \`X-RateLimit-Reset\`. A request beyond the limit is answered 429 and uses nothing up. Wait as long as \`Retry-After\` says, and double your pause while refusals go on: a key that keeps asking is banned, for five minutes at first and longer each time.

Requests without a good key are counted by client address.

## Errors

Every refusal has the same JSON body: \`code\` for programs, \`message\` for people, \`status\` the HTTP status once more. A path that does not exist is 404; a method that a path does not have is 405, with \`Allow\` listing those it has. Both are told to holders of a key only. A request with two \`Host\` headers or an invalid one is 400, whatever it asks for. What is so malformed that it is no HTTP request at all is refused without a body.

## Methods

\`HEAD\` works wherever \`GET\` does, and answers the same without a body. \`OPTIONS\` needs no key and answers 204 with \`Allow\`. Browsers of other origins may call the API once the operator has listed them; the headers named here are readable to them.

## Numbers

Identifiers are signed 64-bit integers and come as JSON numbers with all their digits. JavaScript's \`JSON.parse\` rounds those beyond 2^53: use a parser that keeps them, or the TypeScript client, which hands them over as \`bigint\`. Quantities never exceed 2^53 − 1.

## Changes

\`/v1\` in the address changes when a client could break. New fields, error codes and operations may appear without that, so ignore what you do not know. An operation with \`X-Stability\` is outside this promise until the header is gone; one with \`Deprecation\` works until the date in \`Sunset\`.`;

function planTable(): string {
  const rows = planNames.map((plan) => {
    const limits = plans[plan];
    const cells = limits
      ? [limits.perMinute, limits.perDay].map((count) => count.toLocaleString("en"))
      : ["agreed per key", "agreed per key"];
    return `| ${[plan[0]!.toUpperCase() + plan.slice(1), ...cells].join(" | ")} |`;
  });
  return ["| Plan | per minute | per day |", "|---|---|---|", ...rows].join("\n");
}
