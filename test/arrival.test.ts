import { expect, test } from "bun:test";
import { untilAccepted } from "../src/http/messages/requests.ts";

test("a request that is rejected in the turn in which it arrives is refused, and others of that turn are not", async () => {
  const connections = Array.from({ length: 3 }, () => new AbortController());
  const arriving = connections.map(({ signal }) =>
    untilAccepted(new Request("http://shop/", { signal })).then(
      () => "accepted",
      (error) => error.code,
    ),
  );
  // The parser finishes in the same turn, but not before other work of that turn.
  for (let step = 0; step < 100; step++) await null;
  connections[1]!.abort();
  expect(await Promise.all(arriving)).toEqual(["accepted", "invalid_request", "accepted"]);
});
