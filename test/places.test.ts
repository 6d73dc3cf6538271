import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueOperator } from "./support/admin/operators.ts";
import { earlier, version } from "./support/assistants.ts";
import { createTestClock } from "./support/clock.ts";
import { programHere } from "./support/program.ts";
import { expectError } from "./support/responses.ts";
import { startTestService, surfaceEngine, type TestResponse } from "./support/service.ts";
import { until } from "./support/until.ts";

// Two places for imports and undos, and a queue of eight: no key can have all of them.

/** Each process takes the next number, and works when the test lets it. */
const held = `
  n=1
  until mkdir "$0/$n" 2>/dev/null; do n=$((n + 1)); done
  until [ -e "$0/$n/open" ]; do sleep 0.02; done
  exec "$@"`;

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

test("an assistant that sends as many undos as it can leaves places for other keys, and gets the rest after them", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "petstore-places-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const program = ["sh", "-c", held, folder, ...programHere()];
  const clock = createTestClock(Date.now());
  const service = await startTestService(surfaceEngine, { mcp: "on" }, {}, { program, clock });
  stack.defer(service.stop);
  await service.addPets(...[1n, 2n, 3n].map((petId) => ({ petId, quantity: 10 })));
  const begun = (number: number) =>
    until(() => existsSync(join(folder, `${number}`)), 30_000, `process ${number}`);
  const open = (number: number) => writeFileSync(join(folder, `${number}`, "open"), "");

  async function assistant(petId: number): Promise<Sender> {
    const { text: key } = await service.issueKey();
    const use = (name: string, given: object) => {
      const body = earlier("tools/call", { name, arguments: given });
      return service.call("POST", "~/mcp", { key, body, headers: version("2025-11-25") });
    };
    const sale = { changes: [{ petId, delta: -1 }], reason: "sale" };
    const session = /ses_\w+/.exec((await use("change_stock", sale)).text)![0];
    return new Sender(() => use("undo_session", { session }));
  }
  const [many, second, third] = [await assistant(1), await assistant(2), await assistant(3)];
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
    expect(answer.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  }
  const expectDone = (answer: TestResponse) => {
    expect(`${answer.status} ${answer.text}`).toMatch(/^200 /);
    expect(answer.text).not.toContain('"isError":true');
  };
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
    expect(existsSync(join(folder, `${number}`))).toBe(false);
    open(number === 5 ? 1 : number - 1);
    await begun(number);
  }
  open(8);
  for (const answer of (await many.answered(12)).slice(7)) expectDone(answer);
  const { text: key } = await service.issueKey();
  const { json } = await service.call("GET", "/inventory", { key });
  expect(json).toEqual(
    [1, 2, 3].map((petId) => ({ petId, quantity: 10, status: "available" })) as never,
  );
});
