import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { byCommand } from "../src/domain/audit/audit.ts";
import { revokeKey } from "../src/domain/keys/lifecycle.ts";
import { issueOperator } from "./support/admin/operators.ts";
import { createTestClock } from "./support/clock.ts";
import { programHere } from "./support/program.ts";
import { rejectedEnds } from "./support/rejected-ends.ts";
import { expectError } from "./support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "./support/service.ts";
import { connectRaw } from "./support/socket.ts";
import { contentOf, expectSameContent } from "./support/store-content.ts";
import { until } from "./support/until.ts";
import { type Key, type Request, type WayIn, waysIn } from "./support/ways-in.ts";

interface Answer {
  readonly isError: boolean;
  /** The code of the error, or nothing. */
  readonly code: string | undefined;
  readonly details: readonly { readonly id?: string }[] | undefined;
  /** What the operation or the tool returned. */
  readonly text: string;
  readonly isReplayed: boolean;
  readonly requestId: string;
}

describe.each([surfaceEngine])("every way to change something on %s", (engine) => {
  let backupFolder: string;
  let service: TestService;
  beforeAll(async () => {
    backupFolder = mkdtempSync(join(tmpdir(), "petstore-backups-"));
    const flags = {
      mcp: "on",
      "backup-folder": backupFolder,
      "sign-in-per-minute": "1000",
      // Nothing listens on the port of these webhooks.
      "webhooks-allowed-networks": "127.0.0.0/8",
    };
    const clock = createTestClock(Date.now());
    service = await startTestService(engine, flags, {}, { program: programHere(), clock });
    await service.addPets({ petId: 1n, quantity: 3 }, { petId: 2n, status: "sold" });
  });
  afterAll(async () => {
    await service.stop();
    rmSync(backupFolder, { recursive: true });
  });

  async function send({ method, path, headers, body }: Request, key: Key): Promise<Answer> {
    const sent = { key: key.text, headers, ...(body === "" ? {} : { body }) };
    const { status, text, headers: got } = await service.call(method, `~${path}`, sent);
    const requestId = got.get("X-Request-Id")!;
    const isReplayed = got.has("Idempotent-Replayed");
    const { result, code, details } = text === "" ? {} : JSON.parse(text);
    if (!result) return { isError: status >= 400, code, details, text, isReplayed, requestId };
    const [said, more] = result.content.map((one: { text: string }) => one.text);
    return {
      ...{ isError: result.isError, text: said.replace('"isReplayed":true,', ""), requestId },
      code: result.isError ? said.split(":")[0] : undefined,
      details: more && JSON.parse(more).details,
      isReplayed: said.includes('"isReplayed":true'),
    };
  }

  /** The same, without the log of what operators did. */
  const stateOf = async () => {
    const { audit: _, ...state } = await contentOf(service.store);
    return state;
  };

  async function isRevoked({ text: key }: Key): Promise<boolean> {
    const path = key.startsWith("psk") ? "/inventory" : "~/admin/session";
    return (await service.call("GET", path, { key })).status === 401;
  }

  let lastKey = 0;
  const freshKey = () => `key-${++lastKey}`;

  async function begin(way: WayIn) {
    const key = await way.keyFor(service);
    return { key, write: await way.prepare(service, key) };
  }

  test("is one that the tables have, for each surface", () => {
    const surfaces = waysIn.map(({ name }) => name.replace(/^\w+ of /, ""));
    expect(new Set(surfaces)).toEqual(new Set(["the API", "the operator API", "assistants"]));
    expect(new Set(waysIn.map(({ kind }) => kind)).size).toBe(3);
  });

  describe.each(waysIn.map((way) => [way.name, way] as const))("%s", (_, way) => {
    test("changes something and records who did, and acts by its kind if it is sent twice", async () => {
      const { key, write } = await begin(way);
      const request = write({ idempotencyKey: freshKey() });
      const before = await contentOf(service.store);
      const first = await send(request, key);
      expect(first).toMatchObject({ isError: false, isReplayed: false });
      const after = await contentOf(service.store);
      expectAuthor(before, after, key, first.requestId);
      const second = await send(request, key);
      if (way.kind === "repeatable") {
        const { audit: _, ...state } = after;
        expect(await stateOf()).toEqual(state);
        // What was removed is not there any more.
        if (second.isError) expect([request.method, second.code]).toEqual(["DELETE", "not_found"]);
        return;
      }
      expect(await contentOf(service.store)).toEqual(after);
      if (way.kind === "stock") {
        expect(second).toMatchObject({ isError: false, isReplayed: true, text: first.text });
      } else {
        expect(second).toMatchObject({ isError: true, code: "idempotency_conflict" });
        const [{ id = "none" } = {}] = second.details!;
        expect([first.text, first.requestId, request.path, request.body].join()).toContain(id);
      }
    });

    test("takes no key for another request", async () => {
      if (way.kind === "repeatable") return;
      const { key, write } = await begin(way);
      const idempotencyKey = freshKey();
      expect((await send(write({ idempotencyKey }), key)).isError).toBe(false);
      const other = (await way.prepare(service, key))({ idempotencyKey });
      const changed = other.body.includes("reason")
        ? { ...other, body: other.body.replace(/"reason":"\w+/, "$&!") }
        : other;
      const isSame = JSON.stringify(changed) === JSON.stringify(write({ idempotencyKey }));
      const refused = await expectSameContent(service.store, () => send(changed, key));
      expect(refused.isError || isSame).toBe(true);
      if (!isSame) expect(refused.code).toBe("idempotency_key_reused");
    });

    test("is done once if it is sent twice at the same time", async () => {
      if (way.kind === "repeatable") return;
      const { key, write } = await begin(way);
      const request = write({ idempotencyKey: freshKey() });
      const answers = await Promise.all([send(request, key), send(request, key)]);
      const done = answers.filter(({ isError, isReplayed }) => !isError && !isReplayed);
      expect(done).toHaveLength(1);
      const [other] = answers.filter((one) => one !== done[0]);
      if (way.kind === "stock") expect(other).toMatchObject({ isError: false, isReplayed: true });
      else expect(other!.code).toBe("idempotency_conflict");
    });

    test("changes nothing if it is tried, and remembers no key", async () => {
      if (!way.isTriable) return;
      const { key, write } = await begin(way);
      const idempotencyKey = freshKey();
      const tried = await expectSameContent(service.store, () =>
        send(write({ isDryRun: true, idempotencyKey }), key),
      );
      expect(tried.isError).toBe(false);
      expect(await send(write({ idempotencyKey }), key)).toMatchObject({ isError: false });
    });

    test("changes nothing if it is refused", async () => {
      const key = await way.keyFor(service);
      const requests = await way.refused(service);
      await expectSameContent(service.store, async () => {
        for (const request of requests) {
          expect(await send(request, key)).toMatchObject({ isError: true });
        }
      });
    });

    test("is refused to a caller without the right to it", async () => {
      const { key, write } = await begin(way);
      const other = await way.otherKeyFor(service);
      const refused = await expectSameContent(service.store, async () => [
        await send(write({}), other),
        await send(write({}), { id: "", text: "none" }),
      ]);
      // Not because of what it asks for.
      const [unable, unknown] = refused.map(({ isError, code, text }) => {
        return isError && `${code}: ${text}`;
      });
      expect(unable).toMatch(/scope|unauthorized/);
      expect(unknown).toStartWith("unauthorized");
      expect(await send(write({}), key)).toMatchObject({ isError: false });
    });

    test("is refused if its key is revoked while its body arrives", async () => {
      const { key, write } = await begin(way);
      const { method, path, headers, body } = write({});
      if (body === "") return;
      const lines = { Host: "shop", Authorization: `Bearer ${key.text}`, ...headers };
      const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
      const client = await connectRaw(service.baseUrl);
      const [start, end] = [body.slice(0, -1), body.slice(-1)];
      const length = `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
      client.send(`${method} ${path} HTTP/1.1\r\n${head.join("")}${length}${start}`);
      await until(async () => !(await isRevoked(key)), 5_000, "the key");
      await issueOperator(service, "Keeper");
      await revokeKey(service.store, key.id, byCommand(service.clock.now()), true);
      await until(() => isRevoked(key), 5_000, "the revocation");
      await expectSameContent(service.store, async () => {
        client.send(end);
        expectError(await client.answer(), "unauthorized");
      });
      client.abort();
    });

    test("changes nothing if the end of its body is wrong", async () => {
      const { key, write } = await begin(way);
      const { method, path, headers, body } = write({});
      const lines = { Host: "shop", Authorization: `Bearer ${key.text}`, ...headers };
      const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
      await expectSameContent(service.store, async () => {
        for (const [, end] of rejectedEnds) {
          const client = await connectRaw(service.baseUrl);
          client.send(`${method} ${path} HTTP/1.1\r\n${head.join("")}${end(body)}`);
          expect(await client.closed()).not.toContain("HTTP/1.1 2");
        }
      });
    });
  });
});

type Content = Awaited<ReturnType<typeof contentOf>>;

/** The tables that say who made their rows: where the ids of the key and of the request are. */
const authors = { ledger: [8, 9], audit: [2, 3] } as const;

/** Asserts that new rows of the ledger or the audit log, or a stocktake, name the key and the request. */
function expectAuthor(before: Content, after: Content, key: Key, requestId: string): void {
  const known = (table: string) => new Set(before[table]!.map((row) => `${row}`));
  const fresh = (table: string) =>
    (after[table] as unknown[][]).filter((row) => !known(table).has(`${row}`));
  const named = Object.entries(authors).flatMap(([table, columns]) =>
    fresh(table).map((row) => columns.map((column) => row[column])),
  );
  const counted = fresh("stocktakes").map(([name]) => name);
  for (const name of counted) expect(name).toBe("Ada");
  expect(named.length + counted.length).toBeGreaterThan(0);
  for (const found of named) expect(found).toEqual([key.id, requestId]);
}
