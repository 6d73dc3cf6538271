import { expect, test } from "bun:test";
import { surfaceEngine } from "../support/service.ts";
import { expectUsageError } from "../support/usage-errors.ts";
import { openStoreWorkspace } from "../support/workspaces.ts";

interface Row {
  readonly seq: number;
  readonly at: string;
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly requestId: string | null;
  readonly action: string;
  readonly target: string | null;
  readonly details: Record<string, unknown>;
}

for (const engine of [surfaceEngine]) {
  test(`${engine}: audit shows who did what, the newest first, and as many rows as wanted`, async () => {
    const place = await openStoreWorkspace(engine);
    try {
      const operator = ["keys", "create", "--operator", "--name"];
      const anna = await place.json<{ id: string }>(...operator, "Anna");
      const till = await place.createKey("till");
      const importAs = (...words: string[]) =>
        place.runHere(["pets", "import", "-", ...words], { stdin: '{"petId":7,"name":"Rex"}' });
      const requested = ["--as", anna.id, "--request-id", "req_00ff_1", "--name", "pets, new.csv"];
      expect(await importAs(...requested)).toMatchObject({ code: 0 });
      await place.json("keys", "revoke", till.id);

      const rows = await place.rows<Row>("audit");
      expect(rows.map(({ action, keyName, target }) => [action, keyName, target])).toEqual([
        ["key.revoked", null, till.id],
        ["pets.imported", "Anna", null],
        ["key.created", null, till.id],
        ["key.created", null, anna.id],
      ]);
      expect(rows[1]).toMatchObject({ keyId: anna.id, requestId: "req_00ff_1" });
      expect(await place.rows<Row>("audit", "--limit", "3")).toEqual(rows.slice(0, 3));
      const [, , importRow] = (await place.runHere(["audit"])).out.split("\n");
      expect(importRow).toMatch(/Z {2}Anna +pets\.imported {2}- {2}/);
      expect(importRow).toContain("pets, new.csv");

      const ledger = await place.rows<Record<string, unknown>>("ledger");
      expect(ledger).toHaveLength(1);
      expect(ledger[0]).toMatchObject({
        ...{ cause: "import", keyId: anna.id, requestId: "req_00ff_1" },
        reason: "import of pets, new.csv",
      });
    } finally {
      await place.leave();
    }
  });
}

test("an import is recorded only for an operator key that is valid, and needs proper names", async () => {
  const place = await openStoreWorkspace("sqlite");
  try {
    const anna = await place.json<{ id: string }>("keys", "create", "--operator", "--name", "Anna");
    const create = ["keys", "create", "--operator", "--role", "viewer", "--name", "Vera"] as const;
    const vera = await place.json<{ id: string }>(...create);
    const till = await place.createKey("till");
    const importAs = (...words: string[]) =>
      place.runHere(["pets", "import", "-", ...words], { stdin: '{"petId":7,"name":"Rex"}' });
    const cases: [words: string[], problem: string][] = [
      [["--as", till.id], "--as must be the id of a valid operator key"],
      [["--as", vera.id], "--as must be an operator key with the role clerk or owner"],
      [["--as", "key_0"], "--as must be the id of a valid operator key"],
      [["--as", anna.id, "--request-id", "a b"], "--request-id must have 1 to 64 letters"],
      [["--request-id", "req_1"], "--request-id needs --as"],
      [["--name", ""], "--name must have 1 to 190 characters"],
      [["--name", "a\nb"], "--name must have 1 to 190 characters"],
      [["--name", "x".repeat(191)], "--name must have 1 to 190 characters"],
      [["--differences", "few"], "--differences must be an integer from 0"],
    ];
    for (const [words, problem] of cases) expectUsageError(await importAs(...words), problem);
    await place.json("keys", "revoke", anna.id, "--force");
    expectUsageError(await importAs("--as", anna.id), "--as must be the id of a valid operator");
    expect(await place.rows("ledger")).toEqual([]);
    expectUsageError(await place.runHere(["audit", "--limit", "0"]), "--limit must be an integer");
  } finally {
    await place.leave();
  }
});
