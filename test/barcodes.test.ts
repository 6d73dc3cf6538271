import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { PetRecord } from "../src/domain/catalogue/pets.ts";
import { issueOperator } from "./support/admin/operators.ts";
import { readParts, writeParts } from "./support/backup-files.ts";
import { expectError, expectUnchanged } from "./support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "./support/service.ts";
import { openStoreWorkspace } from "./support/workspaces.ts";

/** No two pets have the same barcode, however they get it. */

describe.each([surfaceEngine])("a barcode on %s", (engine) => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startTestService(engine);
    key = (await issueOperator(service, "Ada")).text;
    await service.addPets(
      { petId: 1n, barcode: "A" },
      { petId: 2n, barcode: "B" },
      { petId: 3n, barcode: "C" },
      { petId: 4n },
      { petId: 5n },
    );
  });
  afterAll(() => service.stop());

  type Row = Partial<PetRecord> & { petId: bigint };
  const barcodes = async () =>
    (await service.store.catalogue.petsAfter(null, 100)).map(({ barcode }) => barcode);
  const refused = async (...rows: Row[]) => {
    const adding = () => service.addPets(...rows).then(() => undefined, String);
    return expectUnchanged(service.store, adding);
  };
  const send = (method: string, path: string, body?: object) => {
    const sent = body && { body: JSON.stringify(body) };
    return service.call(method, `~/admin${path}`, { key, ...sent });
  };

  test("is unique in an import: in its rows, and with the pets that it does not change", async () => {
    const twice = await refused({ petId: 4n, barcode: "X" }, { petId: 9n, barcode: "X" });
    expect(twice).toMatch(/barcode 'X' must be unique, but line \d+ has it too/);
    for (const petId of [4n, 9n]) {
      const taken = await refused({ petId, barcode: "A" });
      expect(taken).toContain("barcode 'A' must be unique, but pet 1 has it");
    }
    const kept = await refused({ petId: 1n, name: "Rex" }, { petId: 4n, barcode: "A" });
    expect(kept).toContain("but pet 1 has it");
  });

  test("moves between pets in one import, in any order, and to a new pet", async () => {
    await service.addPets({ petId: 1n, barcode: "B" }, { petId: 2n, barcode: "A" });
    expect(await barcodes()).toEqual(["B", "A", "C", null, null]);
    await service.addPets(
      { petId: 1n, barcode: "C" },
      { petId: 2n, barcode: "B" },
      { petId: 3n, barcode: null },
      { petId: 6n, barcode: "A" },
    );
    expect(await barcodes()).toEqual(["C", "B", null, null, null, "A"]);
  });

  test("that another pet has is refused by the operator API, and the message names the pet", async () => {
    for (const sending of [
      () => send("POST", "/pets", { petId: 9, name: "Rex", barcode: "C" }),
      () => send("PATCH", "/pets/4", { barcode: "C" }),
    ]) {
      const reply = await expectUnchanged(service.store, sending);
      expectError(reply, "already_exists");
      expect(reply.json).toMatchObject({ message: "Pet 1 has the barcode C already." });
    }
    for (const barcode of ["", " C", "C ", "a\nb", "ä", "x".repeat(101)]) {
      expectError(await send("PATCH", "/pets/4", { barcode }), "invalid_request");
    }
    expect((await send("PATCH", "/pets/1", { barcode: "C" })).status).toBe(200);
  });

  test("goes to one of several writers at the same time, and the others get the same message", async () => {
    const pets = [1, 2, 3, 4, 5, 6];
    const replies = await Promise.all([
      ...pets.map((petId) => send("PATCH", `/pets/${petId}`, { barcode: "Z" })),
      send("POST", "/pets", { petId: 7, name: "Max", barcode: "Z" }),
    ]);
    expect(replies.map(({ status }) => status).filter((status) => status < 300)).toHaveLength(1);
    expect(new Set(replies.map(({ status }) => status)).has(409)).toBe(true);
    for (const { status, json } of replies.filter((reply) => reply.status >= 300)) {
      expect([status, (json as { code: string }).code]).toEqual([409, "already_exists"]);
    }
    expect((await barcodes()).filter((barcode) => barcode === "Z")).toHaveLength(1);
  });

  test("and the quantity at which stock is low are in the stock and in the names, if the pet has them", async () => {
    await service.addPets(
      { petId: 20n, name: "Koi", barcode: "0012", lowStockAt: 0 },
      { petId: 21n },
    );
    const { entries } = (await send("GET", "/stock")).json as {
      entries: Record<string, unknown>[];
    };
    const listed = entries.filter(({ petId }) => Number(petId) >= 20);
    expect(listed[0]).toMatchObject({ name: "Koi", barcode: "0012", lowStockAt: 0 });
    expect(Object.keys(listed[1]!)).toEqual([
      "petId",
      "name",
      "category",
      "quantity",
      "status",
      "version",
    ]);
    const names = (await send("GET", "/pets?ids=20,21")).json;
    expect(names).toMatchObject([{ barcode: "0012", lowStockAt: 0 }, { petId: 21 }]);
  });
});

test("barcodes keep their zeros and signs in a CSV file, which marks them as texts", async () => {
  const place = await openStoreWorkspace("sqlite");
  const codes = ["0012345678905", "=1+1", '="7"', "12E5", 'a"b,c'];
  const pets = codes.map((barcode, petId) => JSON.stringify({ petId, name: "Rex", barcode }));
  await place.importPets(...pets);
  await place.runHere(["pets", "export", "pets.csv"]);
  expect(await Bun.file(place.path("pets.csv")).text()).toContain('"=""0012345678905"""');
  expect(await place.json("pets", "import", "pets.csv")).toMatchObject({ unchanged: 5 });
  await Bun.write(place.path("plain.csv"), "petId,barcode\n0, 4006381333931 \n");
  expect(await place.json("pets", "import", "plain.csv")).toMatchObject({ changed: 1 });
  await Bun.write(place.path("rounded.csv"), 'petId,barcode\n0,"4,00638E+12"\n');
  const { err } = await place.runHere(["pets", "import", "rounded.csv"]);
  expect(err).toContain("rounded.csv:2: barcode '4,00638E+12' must be a text");
  expect(err).toContain("and no shortened number such as 4.00638E+12");
  await place.leave();
});

test("a backup in which two pets have the same barcode is refused", async () => {
  const place = await openStoreWorkspace("sqlite");
  const pets = ["A", "B"].map((barcode, petId) => ({ petId, name: "Rex", barcode }));
  await place.importPets(...pets.map((pet) => JSON.stringify(pet)));
  await place.json("backup", place.path("pets.petstore"));
  const parts = readParts(place.path("pets.petstore"));
  const lines = parts.lines.map((line) => line.replace('"B"', '"A"'));
  writeParts(place.path("bad.petstore"), { ...parts, lines });
  const target = ["--database", `sqlite:${place.path("restored.db")}`];
  const { code, err } = await place.runHere(["restore", "bad.petstore", ...target]);
  expect(err).toContain("bad.petstore is damaged");
  expect(err).toContain("pets.barcode");
  expect(code).not.toBe(0);
  expect(await Bun.file(place.path("restored.db")).exists()).toBe(false);
  await place.leave();
});
