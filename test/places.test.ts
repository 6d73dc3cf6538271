import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { byCommand } from "../src/domain/audit/audit.ts";
import { revokeKey } from "../src/domain/keys/lifecycle.ts";
import { issueOperator } from "./support/admin/operators.ts";
import { earlier, version } from "./support/assistants.ts";
import { createTestClock } from "./support/clock.ts";
import { programHere } from "./support/program.ts";
import { expectError } from "./support/responses.ts";
import {
  startTestService,
  surfaceEngine,
  type TestResponse,
  type TestService,
} from "./support/service.ts";
import { until } from "./support/until.ts";

// Two places for imports and undos, and a queue of eight: no key can have all of them.

/** Each process takes the next number, and works when the test lets it, or all of them. */
const held = `
  n=1
  until mkdir "$0/$n" 2>/dev/null; do n=$((n + 1)); done
  until [ -e "$0/$n/open" ] || [ -e "$0/open" ]; do sleep 0.02; done
  exec "$@"`;

/** A service with three pets, whose processes work when they are opened. */
async function startHeld(stack: AsyncDisposableStack) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-places-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const program = ["sh", "-c", held, folder, ...programHere()];
  const clock = createTestClock(Date.now());
  const service = await startTestService(surfaceEngine, { mcp: "on" }, {}, { program, clock });
  stack.defer(service.stop);
  await service.addPets(...[1n, 2n, 3n].map((petId) => ({ petId, quantity: 10 })));
  const hasBegun = (number: number) => existsSync(join(folder, `${number}`));
  return {
    service,
    hasBegun,
    begun: (number: number) => until(() => hasBegun(number), 30_000, `process ${number}`),
    open: (number: number) => writeFileSync(join(folder, `${number}`, "open"), ""),
    openAll: () => writeFileSync(join(folder, "open"), ""),
  };
}

/** Requests of one sender, and those of their answers that have arrived. */
class Sender {
  readonly answers: TestResponse[] = [];
  sent = 0;
  readonly #request: () => Promise<TestResponse>;

  constructor(request: () => Promise<TestResponse>) {
    this.#request = request;
  }

  send(count = 1): void {
    this.sent += count;
    for (let at = 0; at < count; at++) {
      this.#request().then((answer) => this.answers.push(answer));
    }
  }

  /** Waits until so many are answered. */
  async answered(count: number): Promise<readonly TestResponse[]> {
    await until(() => this.answers.length >= count, 30_000, `${count} answers`);
    expect(this.answers).toHaveLength(count);
    return this.answers;
  }
}

/** An assistant that has sold one of a pet, and its undos of that. */
async function assistantOf(service: TestService, petId: number) {
  const key = await service.issueKey();
  const use = (name: string, given: object) => {
    const body = earlier("tools/call", { name, arguments: given });
    return service.call("POST", "~/mcp", { key: key.text, body, headers: version("2025-11-25") });
  };
  const sale = { changes: [{ petId, delta: -1 }], reason: "sale" };
  const session = /ses_\w+/.exec((await use("change_stock", sale)).text)![0];
  return { key, undos: new Sender(() => use("undo_session", { session })) };
}

/** An undo of what is longer ago takes a process. */
const addManyPets = ({ addPets }: TestService) =>
  addPets(...Array.from({ length: 2_500 }, (_, at) => ({ petId: BigInt(at + 10) })));

function expectDone({ status, text }: TestResponse): void {
  expect(`${status} ${text}`).toMatch(/^200 /);
  expect(text).not.toContain('"isError":true');
}

test("an assistant that sends as many undos as it can leaves places for other keys, and gets the rest after them", async () => {
  await using stack = new AsyncDisposableStack();
  const { service, hasBegun, begun, open } = await startHeld(stack);
  const assistants = await Promise.all([1, 2, 3].map((petId) => assistantOf(service, petId)));
  const [many, second, third] = assistants.map(({ undos }) => undos) as [Sender, Sender, Sender];
  await addManyPets(service);
  const { text: operator } = await issueOperator(service, "Ada");
  const imports = new Sender(() => {
    const body = "petId,name\n1,Rex\n";
    return service.call("POST", "~/admin/pets/import?format=csv", { key: operator, body });
  });

  // One is made and four wait: as many as are left for others.
  many.send(12);
  await begun(1);
  for (const answer of await many.answered(7)) {
    expectError(answer, "unavailable");
    expect(answer.text).toContain("This key has too many long requests under way.");
    expect(answer.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  }
  second.send();
  await begun(2);
  // Both places are taken. The others wait, and are not refused.
  third.send();
  imports.send();
  open(2);
  expectDone((await second.answered(1))[0]!);
  for (const number of [3, 4]) {
    await begun(number);
    open(number);
  }
  for (const one of [third, imports]) expectDone((await one.answered(1))[0]!);
  await many.answered(7);
  // Nobody else waits now, and still one is made after the other.
  for (const number of [5, 6, 7, 8]) {
    expect(hasBegun(number)).toBe(false);
    open(number === 5 ? 1 : number - 1);
    await begun(number);
  }
  open(8);
  for (const answer of (await many.answered(12)).slice(7)) expectDone(answer);
  const { text: key } = await service.issueKey();
  const { json } = await service.call("GET", "/inventory", { key });
  expect((json as unknown[]).slice(0, 3)).toEqual(
    [1, 2, 3].map((petId) => ({ petId, quantity: 10, status: "available" })) as never,
  );
});

test("undos are refused if their key is revoked while they wait for their place", async () => {
  await using stack = new AsyncDisposableStack();
  const { service, hasBegun, begun, openAll } = await startHeld(stack);
  const { key, undos } = await assistantOf(service, 1);
  await addManyPets(service);
  undos.send(12);
  await begun(1);
  // All others are refused, so four wait now.
  await undos.answered(7);
  await revokeKey(service.store, key.id, byCommand(service.clock.now()));
  const ask = () => service.call("GET", "/inventory", { key: key.text });
  await until(async () => (await ask()).status === 401, 5_000, "the revocation");
  openAll();
  const answers = (await undos.answered(12)).slice(7);
  const waited = answers.filter(({ text }) => text.includes('"unauthorized: '));
  expect(waited).toHaveLength(4);
  expectDone(answers.find((one) => !waited.includes(one))!);
  expect(hasBegun(2)).toBe(false);
});
