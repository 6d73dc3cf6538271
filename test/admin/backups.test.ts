import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueOperator } from "../support/admin/operators.ts";
import { program } from "../support/program.ts";
import { expectError } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

describe.each([surfaceEngine])("backups on %s", (engine) => {
  let parent: string;
  let folder: string;
  let service: TestService;
  let operator: { id: string; text: string };
  beforeAll(async () => {
    parent = mkdtempSync(join(tmpdir(), "petstore-backups-"));
    folder = join(parent, "backups");
    const flags = { "backup-folder": folder, "backup-keep": "2" };
    service = await startTestService(engine, flags, {}, { program });
    operator = await issueOperator(service, "Ada");
    await service.addPets({ petId: 1n });
  });
  afterAll(async () => {
    await service.stop();
    rmSync(parent, { recursive: true });
  });

  const call = (method: string) => service.call(method, "~/admin/backups", { key: operator.text });

  test("there is none at first, and a folder that cannot be used is explained", async () => {
    expect((await call("GET")).json).toEqual({
      ...{ folder, everySeconds: null, keep: 2, lastAt: null, last: null, drill: null, files: [] },
      replica: null,
    });
    writeFileSync(folder, "");
    const failed = await call("POST");
    expectError(failed, "unavailable");
    expect((failed.json as { message: string }).message).toStartWith("The backup failed: ");
    rmSync(folder);
    expect((await call("GET")).json).toMatchObject({ last: { failedAt: expect.any(String) } });
  });

  test("an operator makes one at a time, and the audit log names the operator", async () => {
    service.clock.advance(1_000);
    const both = await Promise.all([call("POST"), call("POST")]);
    const [made, refused] = both.sort((one, other) => one.status - other.status);
    expectError(refused!, "already_running");
    const name = "production-20261115T120001Z.petstore";
    expect(made).toMatchObject({
      status: 201,
      json: { name, bytes: expect.any(Number), createdAt: "2026-11-15T12:00:01.000Z", seq: 1 },
    });
    expect(readdirSync(folder)).toEqual([name]);
    const audited = await service.call("GET", `~/admin/audit?target=${name}`, {
      key: operator.text,
    });
    const [entry] = audited.json as readonly unknown[];
    expect(entry).toMatchObject({
      ...{ keyId: operator.id, keyName: "Ada", target: name },
      requestId: made!.headers.get("x-request-id"),
      details: { seq: 1 },
    });
    expect(service.logged.filter((line) => line.includes('"backup made"'))).toHaveLength(1);
  });

  // The names and the number of the files do not depend on the store.
  if (engine === "postgres") return;

  test("the newest ones are kept and listed, also two of one second", async () => {
    expect((await call("POST")).status).toBe(201);
    expect((await call("POST")).status).toBe(201);
    const { files, lastAt, last } = (await call("GET")).json as {
      lastAt: string;
      files: { name: string; bytes: number; createdAt: string }[];
      last: { succeededAt: string };
    };
    expect(files.map(({ createdAt }) => createdAt)).toEqual([
      "2026-11-15T12:00:03.000Z",
      "2026-11-15T12:00:02.000Z",
    ]);
    expect(files.every(({ bytes }) => bytes > 1_000)).toBe(true);
    expect(lastAt).toBe(last.succeededAt);
  });
});
