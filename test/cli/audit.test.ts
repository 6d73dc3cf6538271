import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
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
      writeFileSync(place.path("pets, new.csv"), "petId,name\n7,Rex\n");
      const imported = await place.runHere(["pets", "import", place.path("pets, new.csv")]);
      expect(imported).toMatchObject({ code: 0 });
      await place.json("keys", "revoke", till.id);

      const rows = await place.rows<Row>("audit");
      expect(rows.map(({ action, keyName, target }) => [action, keyName, target])).toEqual([
        ["key.revoked", null, till.id],
        ["pets.imported", null, null],
        ["key.created", null, till.id],
        ["key.created", null, anna.id],
      ]);
      const requestId = expect.stringMatching(/^req_[0-9a-f]{12}_1$/);
      expect(rows[1]).toMatchObject({ keyId: null, requestId });
      expect(await place.rows<Row>("audit", "--limit", "3")).toEqual(rows.slice(0, 3));
      const [, , importRow] = (await place.runHere(["audit"])).out.split("\n");
      expect(importRow).toMatch(/Z {2}command +pets\.imported {2}- {2}/);
      expect(importRow).toContain("pets, new.csv");

      const ledger = await place.rows<Record<string, unknown>>("ledger");
      expect(ledger).toHaveLength(1);
      expect(ledger[0]).toMatchObject({
        ...{ cause: "import", keyId: null, requestId },
        reason: "import of pets, new.csv",
      });
    } finally {
      await place.leave();
    }
  });
}

test("audit and a dry run reject bad numbers", async () => {
  const place = await openStoreWorkspace("sqlite");
  try {
    await place.createKey("till");
    const words = ["pets", "import", "-", "--differences", "few"];
    const ran = await place.runHere(words, { stdin: '{"petId":7,"name":"Rex"}' });
    expectUsageError(ran, "--differences must be an integer from 0");
    expectUsageError(await place.runHere(["audit", "--limit", "0"]), "--limit must be an integer");
  } finally {
    await place.leave();
  }
});
