import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Scope, scopes } from "../src/domain/keys/keys.ts";
import type { Operation } from "../src/http/pipeline/operation.ts";
import {
  operationExamples as adminExamples,
  prepareExamples,
} from "./support/admin/operation-examples.ts";
import { operations as adminOperations } from "./support/admin/operations.ts";
import { issueOperator, ownPage, signIn } from "./support/admin/operators.ts";
import { anEntry } from "./support/audit.ts";
import { operationExamples as apiExamples, type Example } from "./support/operation-examples.ts";
import { operations as apiOperations } from "./support/operations.ts";
import { programHere } from "./support/program.ts";
import { chunked, counted, rejectedEnds } from "./support/rejected-ends.ts";
import { startTestService, surfaceEngine, type TestService } from "./support/service.ts";
import { connectRaw, type RawClient } from "./support/socket.ts";
import { contentOf, expectSameContent } from "./support/store-content.ts";

interface Write {
  readonly name: string;
  readonly basePath: "/v1" | "/admin";
  readonly operation: Operation;
}

function writesOf(basePath: Write["basePath"], operations: readonly Operation[]): Write[] {
  const writing = operations.filter(({ method }) => method !== "GET");
  return writing.map((operation) => ({ name: `${basePath} ${operation.id}`, basePath, operation }));
}

/** Every operation that can change something. A new one is tested because it is in its table. */
const writes = [...writesOf("/v1", apiOperations), ...writesOf("/admin", adminOperations)];

function hasBody({ basePath, operation: { id } }: Write): boolean {
  return (basePath === "/v1" ? apiExamples : adminExamples)[id]!.good.body !== undefined;
}

const importBytesMax = 100_000;

describe.each([surfaceEngine])("every operation that writes, on %s", (engine) => {
  let service: TestService;
  let backupFolder: string;
  let apiKey: string;
  let operatorKey: string;
  /** Requests that the service has finished, also those whose clients got a response of the parser. */
  let finished = 0;
  let onFinished = () => {};
  const unlimited = {
    plan: "enterprise",
    limits: { perMinute: 1_000_000, perDay: 1_000_000 },
  } as const;
  beforeAll(async () => {
    backupFolder = mkdtempSync(join(tmpdir(), "petstore-backups-"));
    const flags = {
      "sign-in-per-minute": "100000",
      "address-per-minute": "100000",
      "backup-folder": backupFolder,
      // Nothing listens on the port of these webhooks.
      "webhooks-allowed-networks": "127.0.0.0/8",
    };
    const observer = () => {
      finished += 1;
      onFinished();
    };
    service = await startTestService(
      engine,
      flags,
      { importBytesMax },
      { program: programHere(), observer },
    );
    apiKey = (await service.issueKey(unlimited)).text;
    operatorKey = (await issueOperator(service)).text;
    await service.addPets({ petId: 1n, quantity: 3 }, { petId: 2n, status: "sold" });
  });
  afterAll(async () => {
    await service.stop();
    rmSync(backupFolder, { recursive: true });
  });

  async function untilFinished(count: number): Promise<void> {
    while (finished < count) {
      await new Promise<void>((resolve) => {
        onFinished = resolve;
      });
    }
  }

  async function goodRequest({ basePath, operation: { id } }: Write): Promise<Example> {
    if (basePath === "/v1") return apiExamples[id]!.good;
    return (await prepareExamples(service, id))(adminExamples[id]!.good);
  }

  const keyFor = ({ basePath }: Write) => (basePath === "/v1" ? apiKey : operatorKey);

  /** A request up to the headers of its body. An operator also sends a session, which can be ended. */
  async function headOf(write: Write, { path, headers }: Example, key = keyFor(write)) {
    const { basePath, operation } = write;
    const sent = {
      Host: new URL(service.baseUrl).host,
      Authorization: `Bearer ${key}`,
      ...(basePath === "/v1" ? {} : ownPage(await signIn(service, operatorKey))),
      ...headers,
    };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${operation.method} ${basePath}${path} HTTP/1.1\r\n${lines.join("")}`;
  }

  /** Sends one request on a new connection. Resolves when the service has finished it. */
  async function exchange<T>(work: (client: RawClient) => Promise<T>): Promise<T> {
    const before = finished;
    const client = await connectRaw(service.baseUrl);
    const result = await work(client);
    await untilFinished(before + 1);
    client.abort();
    return result;
  }

  const answerTo = (text: string) =>
    exchange((client) => {
      client.send(text);
      return client.answer();
    });

  /** Asserts that neither the store nor the folder of backups has changed. */
  async function unchanged<T>(work: () => Promise<T>): Promise<T> {
    const before = readdirSync(backupFolder);
    const result = await expectSameContent(service.store, work);
    expect(readdirSync(backupFolder)).toEqual(before);
    return result;
  }

  /** A key that can do everything, or nothing at all. */
  async function newKey({ basePath }: Write, granted?: readonly Scope[]) {
    if (basePath === "/admin" && granted === undefined) return issueOperator(service);
    return service.issueKey({ ...unlimited, ...(granted && { scopes: granted }) });
  }

  describe.each(writes)("$name", (write) => {
    /** What the HTTP parser rejects reaches no store, so on the second engine one surface is enough. */
    const testParser = (name: string, work: () => Promise<void>) => {
      if (engine === "sqlite" || write.basePath === "/v1") test(name, work);
    };

    test("changes nothing without its scope", async () => {
      const example = await goodRequest(write);
      const others = scopes.filter((scope) => scope !== write.operation.scope);
      const head = await headOf(write, example, (await newKey(write, others)).text);
      const { status } = await unchanged(() => answerTo(head + counted(example.body ?? "")));
      expect(status).toBe(write.basePath === "/v1" ? 403 : 401);
    });

    test("changes nothing with an unknown query parameter or field, unless the specification allows it", async () => {
      const example = await goodRequest(write);
      const { path, body = "" } = example;
      const query = `${path}${path.includes("?") ? "&" : "?"}unknown=1`;
      const texts = [(await headOf(write, { ...example, path: query })) + counted(body)];
      if (body.startsWith("{")) {
        texts.push((await headOf(write, example)) + counted(body.replace("{", '{"unknown":1,')));
      }
      const isLenient = write.operation.stability === "experimental";
      for (const text of texts) {
        const send = () => answerTo(text);
        const { status } = await (isLenient ? send() : unchanged(send));
        expect(status).toBe(isLenient ? 200 : 400);
      }
    });

    testParser(
      "changes nothing if the parser rejects the end of the request in the same packet",
      async () => {
        const example = await goodRequest(write);
        const head = await headOf(write, example);
        await unchanged(async () => {
          for (let round = 0; round < 3; round++) {
            for (const [what, end] of rejectedEnds) {
              const received = await exchange((client) => {
                client.send(head + end(example.body ?? ""));
                return client.closed();
              });
              // After another request, the connection is closed without a response.
              expect(`${what}: ${received.slice(0, 12)}`).toMatch(/: (HTTP\/1\.1 4\d\d)?$/);
            }
          }
        });
      },
    );

    test("succeeds with the same request and an end that the parser accepts", async () => {
      const example = await goodRequest(write);
      const text = (await headOf(write, example)) + counted(example.body ?? "");
      expect(`${(await answerTo(text)).status}`).toMatch(/^20[014]$/);
    });

    if (!hasBody(write)) return;

    testParser("changes nothing if the end of a body in a second packet is rejected", async () => {
      const example = await goodRequest(write);
      const head = await headOf(write, example);
      await unchanged(async () => {
        for (const [, end] of rejectedEnds) {
          await exchange(async (client) => {
            const text = head + end(example.body!);
            const split = text.indexOf("\r\n\r\n") + 6;
            client.send(text.slice(0, split));
            // Its response shows that the service has read what was sent before.
            await service.call("GET", "~/healthz");
            client.send(text.slice(split));
            return client.closed();
          });
        }
      });
    });

    testParser("changes nothing if its body is too large", async () => {
      const example = await goodRequest(write);
      const head = await headOf(write, example);
      const bytesMax = write.operation.body?.bytesMax ?? importBytesMax;
      const body = example.body!.padEnd(bytesMax + 1, write.operation.body ? " " : "\n");
      // The length alone, without the body, and a body that does not say its length.
      const declared = await unchanged(() =>
        answerTo(`${head}Content-Length: ${body.length}\r\n\r\n`),
      );
      expect(declared.status).toBe(413);
      await unchanged(() =>
        exchange((client) => {
          client.send(`${head}${chunked(body)}\r\n`);
          // The service may close the connection before the client has read the response.
          return client.answer().catch(() => undefined);
        }),
      );
    });

    test("changes nothing if its key is revoked while its body arrives, unless it succeeds", async () => {
      const example = await goodRequest(write);
      const key = await newKey(write);
      const text = (await headOf(write, example, key.text)) + counted(example.body!);
      const split = text.indexOf("\r\n\r\n") + 4;
      const [before, answer, after] = await exchange(async (client) => {
        client.send(text.slice(0, split));
        await service.call("GET", "~/healthz");
        await service.store.keys.revokeKey(key.id, service.clock.now(), anEntry);
        const before = await contentOf(service.store);
        client.send(text.slice(split));
        const answer = await client.answer();
        return [before, answer, await contentOf(service.store)];
      });
      if (answer.status >= 400) expect(after).toEqual(before);
      const again = await unchanged(() => answerTo(text));
      expect(again.status).toBe(401);
    });
  });
});
