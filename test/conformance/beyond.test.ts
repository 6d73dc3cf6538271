import { expect, test } from "bun:test";
import { onEveryEngine } from "../support/conformance.ts";
import { operations } from "../support/operations.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";

/** Headers of every response under the base address, whose values depend on the request. */
const variable = [
  "content-length",
  "date",
  "ratelimit",
  "ratelimit-policy",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id",
];

interface Exchange {
  readonly send: readonly [method: string, path: string, body?: string];
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const json = { "content-type": "application/json" };
const noStore = { ...json, "cache-control": "no-store" };
const noCache = { ...json, "cache-control": "no-cache" };
const ofUpdate = {
  "accept-patch": "application/json, application/merge-patch+json",
  "x-stability": "experimental",
};
const links = ["deprecation", "sunset"].map((rel) => `</docs>; rel="${rel}"; type="text/html"`);

const error = (code: string, message: string, status: number) =>
  JSON.stringify({ code, message, status });

/** Requests without any of the new headers, and the responses of version 0.3.0. */
const exchanges: readonly Exchange[] = [
  {
    send: ["GET", "/inventory"],
    status: 200,
    body: '[{"petId":1,"quantity":3,"status":"pending"}]',
    headers: { ...json, "cache-control": "private, no-cache", vary: "Accept-Encoding" },
  },
  {
    send: ["PATCH", "/inventory/1", '{"quantity":8}'],
    status: 200,
    body: '{"petId":1,"quantity":8,"status":"pending"}',
    headers: { ...json, ...ofUpdate },
  },
  {
    send: ["PATCH", "/inventory/1", '{"quantity":-1}'],
    status: 400,
    body: error(
      "invalid_request",
      "Field 'quantity' must be an integer from 0 to 9007199254740991.",
      400,
    ),
    headers: { ...noStore, ...ofUpdate },
  },
  {
    send: ["PATCH", "/inventory/9", '{"quantity":1}'],
    status: 404,
    body: error("not_found", "No pet with this petId is in the store.", 404),
    headers: { ...noStore, ...ofUpdate },
  },
  {
    send: ["GET", "/pets/1"],
    status: 200,
    body: '{"id":1,"name":"Pet 1","category":null,"photoUrls":[],"tags":[],"status":"pending"}',
    headers: {
      ...noCache,
      deprecation: "@1767225600",
      sunset: "Fri, 31 Dec 2027 00:00:00 GMT",
      link: links.join(", "),
    },
  },
  { send: ["GET", "/store/orders"], status: 200, body: "[]", headers: noCache },
  {
    send: ["DELETE", "/inventory"],
    status: 405,
    body: error("method_not_allowed", "Method not allowed. Use GET, HEAD or OPTIONS.", 405),
    headers: { ...noStore, allow: "GET, HEAD, OPTIONS" },
  },
];

onEveryEngine("beyond the specification", (service) => {
  test("[beyond.unchanged] requests without the new headers get the responses of 0.3.0, apart from the ETag of an update", async () => {
    const { text: key } = await service().issueKey();
    await service().addPets({ petId: 1n, quantity: 3, status: "pending" });
    for (const { send, status, body, headers } of exchanges) {
      const [method, path, sent] = send;
      const response = await service().call(method, path, {
        key,
        ...(sent === undefined ? {} : { body: sent }),
      });
      expect([path, response.status, response.text]).toEqual([path, status, body]);
      const names = [...response.headers.keys()];
      expect(names).toEqual(expect.arrayContaining(variable));
      const fixed = names.filter((name) => !variable.includes(name) && name !== "etag");
      const values = Object.fromEntries(fixed.map((name) => [name, response.headers.get(name)!]));
      expect([path, values]).toEqual([path, { ...headers }]);
    }
  });

  test("[beyond.names] unknown query parameters and fields of the new operations get 400 with the nearest name", async () => {
    const { text: key } = await service().issueKey();
    await service().addPets({ petId: 77n, quantity: 1 });
    const strict = operations.filter(({ stability }) => stability === "beta");
    for (const { method, path } of strict) {
      const target = `${path.replace(/\{\w+\}/, "1")}?unknown=1`;
      const response = await service().call(method, target, { key });
      expectError(response, "invalid_request");
      expect(response.text).toContain("Unknown query parameter 'unknown'.");
    }
    const changes = (...list: readonly object[]) => ({ changes: list });
    const cases: [path: string, body: object | undefined, message: string][] = [
      ["/changes?aftr=3", undefined, "Unknown query parameter 'aftr'. Did you mean 'after'?"],
      ["/changes?from=3", undefined, "Unknown query parameter 'from'. Known here: limit, after, "],
      ["/changes?from%1b%0a=3", undefined, "Unknown query parameter 'from\ufffd\ufffd'."],
      [
        "/changes/head?seq=1",
        undefined,
        "Unknown query parameter 'seq'. This operation has no query parameters.",
      ],
      [
        "/changes",
        changes({ petId: 77, delta: 1 }, { petId: 77, delta: 1, expectedversion: 1 }),
        "Change 1: Unknown field 'expectedversion'. Did you mean 'expectedVersion'?",
      ],
      ["/changes", { ...changes({ petId: 77, delta: 1 }), note: "" }, "Unknown field 'note'. "],
      ["/changes", { change: [] }, "Unknown field 'change'. Did you mean 'changes'?"],
    ];
    for (const [path, body, message] of cases) {
      const sent = body ? { key, body: JSON.stringify(body) } : { key };
      const response = await expectUnchanged(service().store, () =>
        service().call(body ? "POST" : "GET", path, sent),
      );
      expectError(response, "invalid_request");
      expect((response.json as { message: string }).message).toStartWith(message);
    }
    // Operations of the specification ignore what they do not know.
    const body = '{"quantity":2,"note":"x"}';
    const update = await service().call("PATCH", "/inventory/77?x=1", { key, body });
    expect(update.status).toBe(200);
    for (const path of ["/inventory?x=1", "/pets/77?x=1", "/store/orders?x=1"]) {
      expect((await service().call("GET", path, { key })).status).toBe(200);
    }
  });

  test("[beyond.beta] every operation that the specification does not have is marked beta", async () => {
    const specified = ["listInventory", "updateInventory", "getPet", "listOrders"];
    const added = operations.filter(({ id }) => !specified.includes(id));
    expect(added).toHaveLength(operations.length - specified.length);
    const { text: key } = await service().issueKey();
    for (const { id, method, path, stability } of added) {
      expect([id, stability]).toEqual([id, "beta"]);
      const target = path.replace("{petId}", "404").replace("{moment}", "0");
      const body = method === "POST" ? { body: "{}" } : {};
      const response = await service().call(method, target, { key, ...body });
      expect([id, response.headers.get("X-Stability")]).toEqual([id, "beta"]);
    }
  });

  test("[beyond.scopes] the new operations need inventory:read, inventory:write or history:read", async () => {
    const only = async (scope: "inventory:read" | "inventory:write" | "history:read") =>
      (await service().issueKey({ scopes: [scope] })).text;
    const keys = {
      read: await only("inventory:read"),
      write: await only("inventory:write"),
      history: await only("history:read"),
    };
    await service().addPets({ petId: 1n });
    const needed = [
      ["GET", "/inventory/1", "read"],
      ["POST", "/changes", "write"],
      ["GET", "/changes", "history"],
      ["GET", "/changes/head", "history"],
      ["GET", "/inventory/1/history", "history"],
      ["GET", "/snapshots/0", "history"],
      ["GET", "/snapshots/0/diff?to=0", "history"],
    ] as const;
    for (const [method, path, scope] of needed) {
      for (const [name, key] of Object.entries(keys)) {
        const body = method === "POST" ? { body: '{"changes":[{"petId":1,"delta":0}]}' } : {};
        const response = await service().call(method, path, { key, ...body });
        if (name === scope) expect([path, response.status]).toEqual([path, 200]);
        else expectError(response, "insufficient_scope");
      }
    }
  });
});
