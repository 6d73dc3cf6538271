import { beforeAll, expect, test } from "bun:test";
import { onEveryEngine } from "../support/conformance.ts";
import { expectUnchanged } from "../support/responses.ts";
import { connectRaw } from "../support/socket.ts";

const update = '{"quantity":4}';
const chunked = "Transfer-Encoding: chunked";
const counted = `Content-Length: ${update.length}`;
const chunk = `${update.length.toString(16)}\r\n${update}\r\n`;

/** Requests whose last bytes Bun's HTTP parser rejects after it has passed on the request. */
const rejectedEndings: readonly (readonly [length: string, body: string])[] = [
  [chunked, `${chunk}0\r\nX: y\r\n\r\n`],
  [chunked, `${chunk}0\r\ngarbage`],
  [counted, `${update}\r\n`],
];

onEveryEngine("a request that the parser rejects", (service) => {
  let key: string;
  beforeAll(async () => {
    const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
    key = (await service().issueKey({ plan: "enterprise", limits })).text;
    await service().addPets({ petId: 1n, quantity: 3 }, { petId: 2n, quantity: 3 });
  });

  const head = (line: string, ...more: string[]) =>
    [`${line} HTTP/1.1`, "Host: shop", `Authorization: Bearer ${key}`, ...more, "", ""].join(
      "\r\n",
    );
  const patch = (...more: string[]) => head("PATCH /v1/inventory/1", ...more);
  const seq = async () => (await service().store.inventory.readHead()).seq;
  /** Sends each part in its own packet and returns everything that was received. */
  const exchange = async (...parts: string[]) => {
    const client = await connectRaw(service().baseUrl);
    for (const [at, part] of parts.entries()) {
      // The response to this request shows that the service has read everything before it.
      if (at > 0) await service().call("GET", "~/healthz");
      client.send(part);
    }
    return client.closed();
  };

  test("[parser.9] an update whose end the parser rejects gets 400, and nothing is stored", async () => {
    await expectUnchanged(service().store, async () => {
      for (let round = 0; round < 50; round++) {
        for (const [length, body] of rejectedEndings) {
          const whole = patch(length) + body;
          const cut = patch(length).length;
          const responses = [
            await exchange(whole),
            await exchange(whole.slice(0, cut), whole.slice(cut)),
            await exchange(whole.slice(0, cut + 5), whole.slice(cut + 5)),
          ];
          for (const response of responses) expect(response).toStartWith("HTTP/1.1 400 ");
        }
      }
    });
  });

  test("such an update is not stored while other updates are, and all of those are stored", async () => {
    const before = await seq();
    const good = async (quantity: number) => {
      const body = JSON.stringify({ quantity });
      return (await service().call("PATCH", "/inventory/2", { key, body })).status;
    };
    const rounds = Array.from({ length: 100 }, async (_, round) => {
      const [length, body] = rejectedEndings[round % rejectedEndings.length]!;
      const [status, rejected] = await Promise.all([good(round), exchange(patch(length) + body)]);
      expect([status, rejected.slice(0, 12)]).toEqual([200, "HTTP/1.1 400"]);
    });
    await Promise.all(rounds);
    const rows = await service().store.inventory.ledgerAfter(before, 1_000);
    expect(rows).toHaveLength(100);
    expect(rows.every(({ petId }) => petId === 2n)).toBe(true);
  });

  test("a valid body is stored, however it is split into packets", async () => {
    const request = `${patch(chunked)}${chunk}0\r\n\r\n`;
    const begin = request.length - chunk.length - 5;
    for (let cut = begin; cut <= request.length; cut++) {
      const before = await seq();
      const client = await connectRaw(service().baseUrl);
      client.send(request.slice(0, cut));
      await service().call("GET", "~/healthz");
      client.send(request.slice(cut));
      expect((await client.answer()).status).toBe(200);
      expect(await seq()).toBe(before + 1);
      client.abort();
    }
  });

  test("[parser.10] an update followed by another request in one packet gets no response and is not stored", async () => {
    const next = [head("GET /v1/inventory"), `${patch(counted)}${update}`];
    await expectUnchanged(service().store, async () => {
      for (let round = 0; round < 50; round++) {
        expect(await exchange(`${patch(counted)}${update}${next[round % 2]}`)).toBe("");
      }
    });
  });

  test("[parser.11] the update of a client that disconnects right after sending it is stored once or not at all", async () => {
    const before = await seq();
    const quantities = Array.from({ length: 50 }, (_, round) => 100 + round);
    for (const quantity of quantities) {
      const client = await connectRaw(service().baseUrl);
      client.send(`${patch("Content-Length: 16")}{"quantity":${quantity}}`);
      if (quantity % 2 === 0) client.end();
      else client.abort();
      await client.closed();
    }
    const body = '{"quantity":99}';
    expect((await service().call("PATCH", "/inventory/1", { key, body })).status).toBe(200);
    const stored = (await service().store.inventory.ledgerAfter(before, 1_000)).map(
      ({ after }) => after!.quantity,
    );
    expect(stored.pop()).toBe(99);
    expect(quantities.filter((quantity) => stored.includes(quantity))).toEqual(stored);
  });

  test("a response to an update whose end is rejected in a later packet never claims that nothing changed", async () => {
    const [valid, trailer] = [patch(counted) + update, `${patch(chunked)}${chunk}0\r\n`];
    for (let round = 0; round < 50; round++) {
      const [start, end] = round % 2 ? [valid, "\r\n"] : [trailer, "X: y\r\n\r\n"];
      const client = await connectRaw(service().baseUrl);
      client.send(start);
      // Long enough for some updates to be stored, and too short for others.
      for (let turn = 0; turn < round; turn++)
        await new Promise((resolve) => setImmediate(resolve));
      client.send(end);
      const received = await client.closed();
      const [first = ""] = received.split(/(?=HTTP\/1\.1)/);
      const [head, body] = first.split("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1\.1 (200|400) /);
      if (head!.includes(" 400 ")) expect(body).toBe("");
    }
  });
});
