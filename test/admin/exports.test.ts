import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { petRows } from "../../src/domain/catalogue/imports.ts";
import { formats } from "../../src/files/formats.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { runHere } from "../support/commands.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

/** More than a page of an export has. */
const many = Array.from({ length: 600 }, (_, at) => ({ petId: BigInt(1_000 + at) }));

describe.each([surfaceEngine])("exports on %s", (engine) => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startTestService(engine);
    key = (await issueOperator(service)).text;
    await service.addPets(
      { petId: -9223372036854775808n, name: "=1+1", category: "@x", tags: ["a|b", "c"] },
      { petId: 9007199254740993n, name: 'a "b",\r\nc', quantity: 9007199254740991 },
      { petId: 1n, name: "x;=1+1;", category: "＝1", tags: ["a", "-2"], barcode: ";@3" },
      ...many,
    );
    const order = { petId: 7n, quantity: 1, status: "placed", complete: false } as const;
    const shipDate = Date.UTC(2026, 4, 1);
    await service.addOrders(
      { ...order, id: 1n, line: 1, shipDate: null, isBad: false },
      { ...order, id: 9223372036854775807n, line: 2, shipDate, isBad: false },
    );
  });
  afterAll(() => service.stop());

  const get = (path: string) => service.call("GET", `~/admin${path}`, { key });

  test("a file has every row with exact texts, and its import changes nothing", async () => {
    for (const format of formats) {
      const { text, headers } = await get(`/pets/export?format=${format}`);
      expect(headers.get("content-disposition")).toBe(
        `attachment; filename="pets-2026-11-15.${format}"`,
      );
      if (format === "csv") {
        expect(text).toStartWith(`${Object.keys(petRows.columns).join()}\n`);
        const row = '"=""-9223372036854775808""",\'=1+1,\'@x,"[""a|b"",""c""]",';
        expect(text).toContain(`\n${row}`);
        expect(text).toContain('\n1,x;\'=1+1;,\'＝1,a|\'-2,,"="";\'@3""",');
      }
      const words = ["pets", "import", "-", "--format", format, "--dry-run", "--json"];
      const database = ["--database", service.databaseUrl];
      const again = await runHere([...words, ...database], { stdin: text });
      expect(JSON.parse(again.out)).toMatchObject({
        ...{ created: 0, changed: 0, unchanged: many.length + 3, differenceCount: 0 },
      });
    }
  });

  test("orders are exported the newest first", async () => {
    const { text, headers } = await get("/orders/export?format=csv");
    expect(headers.get("content-type")).toBe("text/csv");
    expect(text).toBe(
      [
        "id,petId,quantity,shipDate,status,complete",
        '"=""9223372036854775807""",7,1,2026-05-01T00:00:00.000Z,placed,false',
        "1,7,1,,placed,false",
        "",
      ].join("\n"),
    );
    const lines = (await get("/orders/export?format=ndjson")).text.split("\n");
    expect(lines[0]).toStartWith('{"id":9223372036854775807,"petId":7,"quantity":1,');
  });
});
