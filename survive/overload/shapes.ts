// What hostile clients send. Each shape is about what is sent and how, not about how much: the pauses keep
// the attackers from taking the processors, which they share with the service.
import { generateKeyText } from "../../src/domain/keys/keys.ts";
import type { Operation } from "../../src/http/pipeline/operation.ts";
import { operationExamples as adminExamples } from "../../test/support/admin/operation-examples.ts";
import { operations as adminOperations } from "../../test/support/admin/operations.ts";
import { badReaderKinds, createBadReaders } from "../../test/support/bad-readers.ts";
import { type Example, operationExamples } from "../../test/support/operation-examples.ts";
import { operations } from "../../test/support/operations.ts";
import { chunked, counted, rejectedEnds } from "../../test/support/rejected-ends.ts";
import type { TestResponse } from "../../test/support/service.ts";
import { connectRaw, type RawClient } from "../../test/support/socket.ts";
import type { Random } from "../random.ts";

/** Pets that only attackers change. */
export const attackedPets = Array.from({ length: 1_000 }, (_, at) => 2_001 + at);

export interface Attack {
  readonly baseUrl: string;
  readonly key: string;
  readonly operatorKey: string;
  readonly random: Random;
  isOver(): boolean;
  /** Opens a connection, which is cut when the attack is over. */
  open(): Promise<RawClient>;
  /** Sends a request as a good client does, and checks the answer. */
  fetch(path: string, options?: RequestInit): Promise<void>;
  /** Checks that an answer is well formed. */
  check(answer: TestResponse): void;
}

type Shape = (attack: Attack) => Promise<void>;

/** Does something on so many connections until the attack is over. What fails is what attackers expect. */
async function repeat(
  { isOver }: Attack,
  connections: number,
  pauseMs: number,
  work: () => Promise<unknown>,
): Promise<void> {
  const one = async () => {
    while (!isOver()) {
      await work().catch(() => {});
      await Bun.sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
}

/** The head of a request, up to the headers of its body. */
function head({ key }: Attack, line: string, by = key): string {
  return `${line} HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${by}\r\n`;
}

const bare = (attack: Attack, path: string) => `${head(attack, `GET ${path}`)}\r\n`;
const patch = (attack: Attack) => head(attack, `PATCH /v1/inventory/${attackedPets[0]}`);

interface Sent {
  readonly head: string;
  readonly body: string;
  readonly isRead: boolean;
}

/** Requests to every operation of both surfaces: those that succeed, or those that are refused. */
function requestsOf(attack: Attack, kind: "good" | "bad"): Sent[] {
  const fill = (text: string) => text.replaceAll(/\{\w+\}/g, "1");
  const sent = (basePath: string, by: string, operation: Operation, example: Example) => {
    const headers = Object.entries(example.headers ?? {}).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const line = `${operation.method} ${basePath}${fill(example.path)}`;
    return {
      head: head(attack, line, by) + headers.join(""),
      body: fill(example.body ?? ""),
      isRead: operation.method === "GET",
    };
  };
  return [
    ...operations.flatMap((one) =>
      [operationExamples[one.id]![kind]]
        .flat()
        .map((example) => sent("/v1", attack.key, one, example)),
    ),
    ...adminOperations.flatMap((one) =>
      [adminExamples[one.id]![kind]]
        .flat()
        .map((example) => sent("/admin", attack.operatorKey, one, example)),
    ),
  ];
}

/** Sends something on a connection of its own, and checks the answer if there is one. */
async function ask(attack: Attack, pieces: readonly string[], pauseMs = 1): Promise<void> {
  const client = await attack.open();
  for (const [at, piece] of pieces.entries()) {
    if (at > 0) await Bun.sleep(pauseMs);
    if (attack.isOver()) break;
    client.send(piece);
  }
  await Promise.race([client.answer().then(attack.check), Bun.sleep(200)]).finally(client.abort);
}

/** Takes the values in turn, in random order. */
function inTurn<T>({ random }: Attack, values: readonly T[]): () => T {
  const order = random.shuffle(values);
  let at = 0;
  return () => order[at++ % order.length]!;
}

function inPieces(text: string, length: number): string[] {
  return text.match(new RegExp(`[^]{1,${length}}`, "g")) ?? [];
}

/** Requests to every operation whose end the HTTP parser rejects, trailers included. */
async function rejectedRequests(attack: Attack): Promise<void> {
  const every = requestsOf(attack, "good").flatMap(({ head, body }) =>
    rejectedEnds.map(([, end]) => head + end(body)),
  );
  const next = inTurn(attack, every);
  await repeat(attack, 3, 10, () => ask(attack, [next()]));
}

/** Requests to every operation that the service refuses. */
async function refusedRequests(attack: Attack): Promise<void> {
  const next = inTurn(attack, requestsOf(attack, "bad"));
  await repeat(attack, 2, 10, () => {
    const { head, body } = next();
    return ask(attack, [head + counted(body)]);
  });
}

/** Requests in many packets. Those that could change something never end. */
async function splitRequests(attack: Attack): Promise<void> {
  const next = inTurn(attack, requestsOf(attack, "good"));
  await repeat(attack, 10, 10, () => {
    const { head, body, isRead } = next();
    if (isRead) return ask(attack, inPieces(`${head}\r\n`, 40));
    const text = head + (body === "" ? "" : counted(body));
    return ask(attack, inPieces(text.slice(0, -1), 40));
  });
}

async function slowHeads(attack: Attack): Promise<void> {
  await repeat(attack, 100, 10, () => ask(attack, inPieces(bare(attack, "/v1/inventory"), 1), 100));
}

async function slowBodies(attack: Attack): Promise<void> {
  const start = `${patch(attack)}Content-Length: 1000\r\n\r\n{`;
  await repeat(attack, 100, 10, () => ask(attack, [start, ...Array<string>(998).fill(" ")], 100));
}

/** Streams whose clients read little or nothing, or are gone. */
async function slowReaders(attack: Attack): Promise<void> {
  const readers = createBadReaders(attack.baseUrl, attack.operatorKey);
  let opened = 0;
  await repeat(attack, 1, 20, async () => {
    if (opened++ < 150) readers.open(attack.random.pick(badReaderKinds));
  });
  readers.leave();
}

/** Lists that nobody reads. */
async function unreadLists(attack: Attack): Promise<void> {
  await repeat(attack, 10, 100, async () => {
    const client = await attack.open();
    client.pause();
    client.send(bare(attack, "/v1/inventory").repeat(30));
  });
}

async function unknownKeys(attack: Attack): Promise<void> {
  await repeat(attack, 4, 10, () =>
    attack.fetch("/inventory", {
      headers: { Authorization: `Bearer ${generateKeyText("production")}` },
    }),
  );
}

async function snapshots(attack: Attack): Promise<void> {
  const { random } = attack;
  await repeat(attack, 30, 100, () => {
    const seq = 1 + random.below(1_000);
    return attack.fetch(`/snapshots/${seq}${random.chance(0.5) ? "" : "/diff?to=1"}`);
  });
}

async function largeBatches(attack: Attack): Promise<void> {
  const body = JSON.stringify({ changes: attackedPets.map((petId) => ({ petId, delta: 1 })) });
  await repeat(attack, 1, 200, () => attack.fetch("/changes", { method: "POST", body }));
}

async function streams(attack: Attack): Promise<void> {
  const request = `${head(attack, "GET /v1/changes")}Accept: text/event-stream\r\n\r\n`;
  await repeat(attack, 30, 50, async () => {
    const client = await attack.open();
    client.send(request);
    await Bun.sleep(attack.random.below(300));
    client.abort();
  });
}

async function largeHeads(attack: Attack): Promise<void> {
  const texts = [
    `${head(attack, "GET /v1/inventory")}X: ${"x".repeat(20_000)}\r\n\r\n`,
    bare(attack, `/v1/inventory/${"1".repeat(70_000)}`),
    `${head(attack, "GET /v1/inventory")}${"X: y\r\n".repeat(5_000)}\r\n`,
  ];
  await repeat(attack, 4, 30, () => ask(attack, [attack.random.pick(texts)]));
}

async function largeBodies(attack: Attack): Promise<void> {
  const nested = "[".repeat(250_000);
  const texts = [
    patch(attack) + counted("x".repeat(100_000)),
    patch(attack) + chunked("x".repeat(100_000)),
    `${patch(attack)}Content-Length: 80000000\r\n\r\n`,
    head(attack, "POST /v1/changes") + counted(nested),
  ];
  await repeat(attack, 1, 50, () => ask(attack, [attack.random.pick(texts)]));
}

async function pipelines(attack: Attack): Promise<void> {
  const text = bare(attack, `/v1/inventory/${attackedPets[0]}`).repeat(50);
  await repeat(attack, 4, 50, () => ask(attack, [text]));
}

/** Connections that are opened and reset, or that send nothing. */
async function connections(attack: Attack): Promise<void> {
  await repeat(attack, 20, 100, async () => {
    const client = await attack.open();
    if (attack.random.chance(0.8)) client.abort();
  });
}

/** Handshakes that stop in the middle. */
async function tlsStalls(attack: Attack): Promise<void> {
  const plain = attack.baseUrl.replace("https:", "http:");
  const hello = Buffer.from("16030100f8010000f40303", "hex");
  await repeat(attack, 20, 100, async () => {
    const client = await connectRaw(plain);
    client.send(hello.subarray(0, 1 + attack.random.below(hello.length)));
    await Bun.sleep(500);
    client.abort();
  });
}

/** By name. The last one is for a service with TLS. */
export const shapes = {
  rejectedRequests,
  refusedRequests,
  splitRequests,
  slowHeads,
  slowBodies,
  slowReaders,
  unreadLists,
  unknownKeys,
  snapshots,
  largeBatches,
  streams,
  largeHeads,
  largeBodies,
  pipelines,
  connections,
  tlsStalls,
} satisfies Record<string, Shape>;

export type ShapeName = keyof typeof shapes;
