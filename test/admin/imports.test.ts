import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rejectedMessage } from "../../src/http/admin/imports.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { programHere } from "../support/program.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { connectRaw } from "../support/socket.ts";
import { until } from "../support/until.ts";

interface Result {
  readonly dryRun: boolean;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly problems: {
    readonly total: number;
    readonly rows: readonly Record<string, unknown>[];
    readonly hint: string | null;
  };
  readonly differences: {
    readonly total: number;
    readonly rows: readonly Record<string, unknown>[];
  };
  readonly columns: readonly Record<string, unknown>[];
}

const bytesMax = 100_000;

describe.each([surfaceEngine])("imports on %s", (engine) => {
  let service: TestService;
  let operator: { id: string; text: string };
  let key: string;
  beforeAll(async () => {
    service = await startTestService(
      engine,
      {},
      { importBytesMax: bytesMax },
      { program: programHere() },
    );
    operator = await issueOperator(service, "Ada");
    key = (await service.issueKey()).text;
    await service.addPets({ petId: 1n, name: "Rex", quantity: 3 }, { petId: 2n, name: "Luna" });
  });
  afterAll(() => service.stop());

  const send = (path: string, body: BodyInit, headers: Record<string, string> = {}) =>
    service.call("POST", `~/admin${path}`, { key: operator.text, body, headers });
  const dryRun = async (format: string, body: BodyInit): Promise<Result> => {
    const path = `/pets/import?format=${format}&dryRun=true`;
    const response = await expectUnchanged(service.store, () => send(path, body));
    expect(response.status).toBe(200);
    return response.json as Result;
  };
  const quantityOf = async (petId: number) =>
    ((await service.call("GET", `/inventory/${petId}`, { key })).json as { quantity: number })
      .quantity;

  test("a dry run lists every difference with exact ids, and an import makes them", async () => {
    const file = [
      '{"petId":1,"quantity":5}',
      '{"petId":2}',
      '{"petId":9223372036854775807,"name":"<b>Max</b>","tags":["a","b"],"quantity":9007199254740991}',
    ].join("\n");
    const path = "/pets/import?name=delivery%20%3Ci%3E.ndjson";
    const preview = await expectUnchanged(service.store, () => send(`${path}&dryRun=true`, file));
    expect(preview.text).toContain(
      '{"id":9223372036854775807,"field":"quantity","from":null,"to":9007199254740991}',
    );
    const { differences, ...counts } = preview.json as Result;
    expect(counts).toMatchObject({ dryRun: true, created: 1, changed: 1, unchanged: 1 });
    expect(differences.total).toBe(4);
    expect(differences.rows[0]).toEqual({ id: 1, field: "quantity", from: 3, to: 5 });

    // Any media type, and no declared length.
    const chunks = new Blob([file]).stream();
    const imported = await send(path, chunks, { "Content-Type": "text/html" });
    expect([imported.status, imported.json]).toMatchObject([
      200,
      { dryRun: false, created: 1, changed: 1, unchanged: 1, problems: { total: 0 } },
    ]);
    expect(await quantityOf(1)).toBe(5);
    const requestId = imported.headers.get("x-request-id")!;
    const rows = await service.store.history.listRows(
      { after: 0, upTo: 1_000, keyId: operator.id },
      100,
    );
    const reason = "import of delivery <i>.ndjson";
    const own = rows.filter((row) => row.requestId === requestId);
    expect(own.map(({ petId, cause, keyId, reason }) => [petId, cause, keyId, reason])).toEqual([
      [1n, "import", operator.id, reason],
      [9223372036854775807n, "import", operator.id, reason],
    ]);
    const [entry] = await service.store.audit.listEntries({ action: "pets.imported" }, 1);
    expect(entry).toMatchObject({
      ...{ keyId: operator.id, keyName: "Ada", requestId, target: null },
      details: { reason, created: 1, changed: 1, unchanged: 1 },
    });
  });

  test("a German workbook is shown first, and imported with the fields of its columns", async () => {
    const file = readFileSync(join(import.meta.dir, "../fixtures/bestand.xlsx"));
    const found = await dryRun("xlsx", file);
    expect(found).toMatchObject({
      problems: { rows: [{ line: 1, rule: expect.stringContaining("unknown column 'Artikel'") }] },
    });
    expect(found.columns[0]).toEqual({ header: "Artikel", field: null });
    const map = "Artikel=petId\nBezeichnung=name\nBestand=quantity\nPreis=ignore";
    const path = `/pets/import?name=bestand.xlsx&map=${encodeURIComponent(map)}`;
    const preview = await expectUnchanged(service.store, () => send(`${path}&dryRun=true`, file));
    expect(preview.json).toMatchObject({ created: 3, problems: { total: 0 } });
    expect((preview.json as Result).columns[3]).toEqual({ header: "Preis", field: "ignore" });
    const imported = await send(path, file);
    expect(imported.json).toMatchObject({ created: 3, columns: [] });
    expect(await quantityOf(4713)).toBe(250);
    const { text } = await service.call("GET", "/pets/9007199254740993", { key });
    expect(text).toContain('"Größere Schildkröte & Co. <2 kg>"');
  });

  // Both kinds of import reach the store in the same way, and the store's own tests have both.
  if (engine === "postgres") return;

  test("orders are imported for the operator, too", async () => {
    const file = "id,petId,quantity,status\n9007199254740993,1,2,placed\n";
    const preview = await send("/orders/import?format=csv&dryRun=true", file);
    expect(preview.text).toContain('{"id":9007199254740993,"field":"petId","from":null,"to":1}');
    const imported = await send("/orders/import?format=csv", file);
    expect(imported.json).toMatchObject({ created: 1, changed: 0, unchanged: 0 });
    const orders = await service.call("GET", "~/admin/orders", { key: operator.text });
    expect(orders.text).toStartWith('[{"id":9007199254740993,"petId":1,"quantity":2,');
    const [entry] = await service.store.audit.listEntries({ action: "orders.imported" }, 1);
    expect(entry).toMatchObject({
      keyId: operator.id,
      details: { reason: "import of orders.csv" },
    });
  });

  /** A key may send four files at the same time. 503 while it does, and 415 otherwise. */
  const probe = async () => {
    const headers = { "Content-Encoding": "gzip" };
    return (await send("/pets/import?format=csv", "", headers)).status;
  };

  /** Sends the heads of as many imports as a key may send, and a part of their bodies. */
  async function beginUploads(part: string, length: number) {
    const head = [
      "POST /admin/pets/import?format=csv HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${operator.text}`,
      `Content-Length: ${length}`,
    ].join("\r\n");
    const uploads = [];
    while (uploads.length < 4) {
      const client = await connectRaw(service.baseUrl);
      client.send(`${head}\r\n\r\n${part}`);
      uploads.push({ client, answer: client.answer() });
    }
    await until(async () => (await probe()) === 503, 10_000, "the imports");
    return uploads;
  }

  const file = "petId,quantity\n1,70\n2,80\n";

  test("a client that leaves before the end of the file imports nothing", async () => {
    const before = await quantityOf(1);
    await expectUnchanged(service.store, async () => {
      // The part is a valid file by itself.
      for (const { client, answer } of await beginUploads(file, file.length + 1)) {
        answer.catch(() => {});
        client.abort();
      }
      await until(async () => (await probe()) === 415, 10_000, "the end of the imports");
    });
    expect(await quantityOf(1)).toBe(before);
  });

  test("files that arrive slowly hold no place of an import, and a key cannot send many", async () => {
    const uploads = await beginUploads(file.slice(0, 20), file.length);
    const other = (await issueOperator(service, "Bob")).text;
    const body = "id,petId,quantity,status\n5,1,1,placed\n";
    const path = "~/admin/orders/import?format=csv";
    const imported = await service.call("POST", path, { key: other, body });
    expect(imported.json).toMatchObject({ created: 1 });
    for (const { client } of uploads) client.send(file.slice(20));
    for (const { client, answer } of uploads) {
      expect((await answer).json).toMatchObject({ created: 0 });
      client.abort();
    }
    expect(await quantityOf(1)).toBe(70);
    expect(await probe()).toBe(415);
  });

  test("a service that stops ends an import, which imports nothing", async () => {
    const uploads = await beginUploads(file.replace("70", "72"), file.length + 1);
    await service.restart();
    for (const { answer } of uploads) expectError(await answer, "unavailable");
    expect(await quantityOf(1)).toBe(70);
  });

  test("a file that is too large is refused, with and without a declared length", async () => {
    const file = `petId,quantity\n1,9\n${"\n".repeat(bytesMax)}`;
    const path = "/pets/import?format=csv";
    for (const body of [file, new Blob([file]).stream()]) {
      const response = await expectUnchanged(service.store, () => send(path, body));
      expectError(response, "payload_too_large");
    }
  });

  test("a dry run explains every bad row, and the import of the same file changes nothing", async () => {
    const file = [
      "petId,name,status,quantity,tags",
      "1,Rex,available,few,",
      "9,,available,1,",
      "9223372036854775808,Big,available,1,",
      "1,Rex,gone,2,",
      "3,short",
      `4,${"x".repeat(1_001)},available,2,`,
      "5,Max,available,-1,",
      '6,"Luna" Max,available,2,',
    ].join("\n");
    const { problems, differences, columns, ...rest } = await dryRun("csv", file);
    expect(columns[4]).toEqual({ header: "tags", field: "tags" });
    expect(rest).toEqual({ dryRun: true, created: 0, changed: 0, unchanged: 0 });
    expect(differences).toEqual({ total: 0, rows: [] });
    const integer = "must be an integer from 0 to 9007199254740991";
    expect(problems.rows.map(({ line, column, value }) => [line, column, value])).toEqual([
      [2, "quantity", "few"],
      [3, "name", null],
      [4, "petId", "9223372036854775808"],
      [5, "status", "gone"],
      [5, "petId", "1"],
      [6, null, "3,short"],
      [7, "name", `${"x".repeat(59)}…`],
      [8, "quantity", "-1"],
      [9, null, '6,"Luna" Max,available,2,'],
    ]);
    expect([problems.total, problems.hint, problems.rows[0]!.rule]).toEqual([9, null, integer]);
    const response = await expectUnchanged(service.store, () =>
      send("/pets/import?name=pets.csv", file),
    );
    expectError(response, "invalid_request");
    const { message } = response.json as { message: string };
    expect(message).toBe(
      `Nothing was imported. Line 2: quantity 'few' ${integer}. The file has 9 problems; a dry run lists them.`,
    );
  });

  test("a file that is not in its format is explained, with the format that it seems to have", async () => {
    const hintOf = async (format: string, body: BodyInit) => {
      const { problems } = await dryRun(format, body);
      return [problems.rows[0]!.rule, problems.hint];
    };
    expect(await hintOf("csv", '[{"petId":1}]')).toEqual([
      "the file is a JSON array, not CSV",
      "The file looks like a JSON array. Import it with the format json.",
    ]);
    // Bytes that are no text arrive as they were sent.
    expect(await hintOf("csv", gzipSync("petId\n1\n"))).toEqual([
      "the file is compressed; decompress it first",
      null,
    ]);
  });

  test("a bad delimiter or map is refused", async () => {
    for (const query of [
      "delimiter=%7C",
      "map=Artikel:petId",
      "map=Artikel=price",
      "map==petId",
      "map=a%00=petId",
      "map=Artikel=petId%0AName",
      `map=Artikel=petId%0A${"x".repeat(4_000)}=ignore`,
    ]) {
      const response = await expectUnchanged(service.store, () =>
        send(`/pets/import?format=csv&${query}`, "Artikel\n1\n"),
      );
      expectError(response, "invalid_request");
    }
  });

  test("a file that is rejected is explained in sentences, also if no column or value is to blame", async () => {
    const body = "id,name\n5,Rex\n";
    const { text } = await send("/pets/import?format=csv", body);
    expect(text).toContain("Nothing was imported. Line 1: unknown column 'id'");
    const question = rejectedMessage([{ line: 2, rule: "is a quote unclosed?" }], 1);
    expect(question).toBe("Nothing was imported. Line 2: is a quote unclosed?");
  });
});

test("a service that does not know how it was started says that it cannot import", async () => {
  const service = await startTestService("sqlite");
  const { text: key } = await issueOperator(service);
  const body = "petId,name\n1,Rex\n";
  const response = await service.call("POST", "~/admin/pets/import?format=csv", { key, body });
  expectError(response, "unavailable");
  await service.stop();
});
