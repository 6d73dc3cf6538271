import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { initialValues, type PetField, petFields } from "../src/domain/catalogue/pet-fields.ts";
import { issueOperator } from "./support/admin/operators.ts";
import { createdDatabase } from "./support/postgres-template.ts";
import { startTestService, surfaceEngine } from "./support/service.ts";
import { openStoreWorkspace, type StoreWorkspace } from "./support/workspaces.ts";

/** Every row of the table of fields, wherever a pet has its details. A new row needs no change here. */

type Pet = Record<string, unknown> & { petId: number };

const details = (choose: (field: PetField) => unknown) =>
  Object.fromEntries(petFields.map((field) => [field.name, choose(field)]));

const full: Pet = { petId: 7, ...details(({ example }) => example), status: "sold", quantity: 2 };
const bare: Pet = {
  petId: 8,
  ...details(({ kind, example }) => initialValues[kind] ?? (kind === "text" ? example : null)),
  status: "available",
  quantity: 0,
};

/** The same pet with another id, and with other values where no two pets may have the same. */
const another = (petId: number): Pet => ({
  ...full,
  petId,
  ...Object.fromEntries(
    petFields
      .filter(({ kind }) => kind === "uniqueText")
      .map(({ name, example }) => [name, `${example} ${petId}`]),
  ),
});

describe.each([surfaceEngine])("every detail of a pet on %s", (engine) => {
  let place: StoreWorkspace;
  beforeAll(async () => {
    place = await openStoreWorkspace(engine);
    await place.importPets(JSON.stringify(full), `{"petId":8,"name":"${bare.name}"}`);
  });
  afterAll(() => place.leave());

  const exported = async (database = place.database) => {
    const { out } = await place.runHere(["pets", "export", "-", "--database", database]);
    return out
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };

  test("is exported, and imported again without a change", async () => {
    expect(await exported()).toEqual([full, bare]);
    for (const format of ["csv", "ndjson", "json"]) {
      const file = `pets.${format}`;
      await place.runHere(["pets", "export", file]);
      expect(await place.json("pets", "import", file)).toMatchObject({ unchanged: 2 });
      const other = `sqlite:${place.path(`${format}.db`)}`;
      await place.json("pets", "import", file, "--database", other);
      expect(await exported(other)).toEqual([full, bare]);
    }
  });

  test("is in the preview of an import", async () => {
    await Bun.write(place.path("full.ndjson"), JSON.stringify(full));
    const { differences } = await place.json<{ differences: { field: string }[] }>(
      ...["pets", "import", "full.ndjson", "--dry-run"],
      ...["--database", `sqlite:${place.path("none.db")}`],
    );
    expect(differences.map(({ field }) => field)).toEqual([
      ...petFields.map(({ name }) => name),
      "status",
      "quantity",
    ]);
  });

  test("is in both APIs, and operators change it", async () => {
    const service = await startTestService(engine, { database: place.database });
    const { text: key } = await service.issueKey();
    const operator = { key: (await issueOperator(service, "Ada")).text };
    const shown = async (petId: number) =>
      (await service.call("GET", `/pets/${petId}`, { key })).json as Record<string, unknown>;
    for (const { petId, quantity: _, ...pet } of [full, bare]) {
      for (const { name, isLeftOutIfNull } of petFields) {
        if (isLeftOutIfNull && pet[name] === null) delete pet[name];
      }
      expect(await shown(petId)).toEqual({ id: petId, ...pet });
    }
    const send = async (method: string, path: string, body?: object) => {
      const options = body ? { ...operator, body: JSON.stringify(body) } : operator;
      return (await service.call(method, `~/admin${path}`, options)).json;
    };
    expect(await send("GET", "/pets/7")).toEqual({ ...full, version: expect.any(Number) });
    const { petId: _, status: _s, quantity: _q, ...values } = another(8);
    for (const [name, value] of Object.entries(values)) {
      expect(await send("PATCH", "/pets/8", { [name]: value })).toMatchObject({ [name]: value });
    }
    const created = another(9);
    expect(await send("POST", "/pets", created)).toMatchObject(created);
    for (const { name } of petFields) {
      const refused = await send("PATCH", "/pets/8", { [name]: {} });
      expect(refused).toMatchObject({ message: expect.stringContaining(`Field '${name}' must`) });
    }
    await service.stop();
  });

  test("is in a backup, and in a copy of the store in another engine", async () => {
    const pets = await exported();
    await place.json("backup", place.path("pets.petstore"));
    const restored = `sqlite:${place.path("restored.db")}`;
    await place.runHere(["restore", place.path("pets.petstore"), "--database", restored]);
    expect(await exported(restored)).toEqual(pets);
    const copy = engine === "sqlite" ? await createdDatabase() : `sqlite:${place.path("copy.db")}`;
    await place.runHere(["migrate-store", "--from", place.database, "--to", copy]);
    expect(await exported(copy)).toEqual(pets);
  });
});
