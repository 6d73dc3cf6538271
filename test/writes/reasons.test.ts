import { expect, test } from "bun:test";
import { onEngine } from "../support/conformance.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";
import { surfaceEngine } from "../support/service.ts";
import { connectRaw } from "../support/socket.ts";

onEngine(surfaceEngine, "the reason of a change", (service) => {
  const issue = async () => (await service().issueKey()).text;
  const update = (key: string, reason: string) =>
    service().call("PATCH", "/inventory/1", {
      key,
      body: '{"quantity":1}',
      headers: { "X-Change-Reason": reason },
    });
  const batch = (key: string, reason: string) =>
    service().call("POST", "/changes", {
      key,
      body: `{"changes":[{"petId":1,"delta":0,"reason":${reason}}]}`,
    });
  const lastReason = async () => {
    const { store } = service();
    const { seq } = await store.inventory.readHead();
    return (await store.inventory.ledgerAfter(seq - 1, 1))[0]!.reason;
  };

  test("is stored as it was sent, percent-decoded in the header", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const headers = {
      "Stocktake, shelf 4": "Stocktake, shelf 4",
      "caf%C3%A9 %F0%9F%90%B6": "café 🐶",
      "100%25": "100%",
      "a+b": "a+b",
      "": null,
      [encodeURIComponent("🐶".repeat(200))]: "🐶".repeat(200),
      ["x".repeat(200)]: "x".repeat(200),
    };
    for (const [sent, stored] of Object.entries(headers)) {
      expect((await update(key, sent)).status).toBe(200);
      expect(await lastReason()).toBe(stored);
    }
    await service().call("PATCH", "/inventory/1", { key, body: '{"quantity":1}' });
    expect(await lastReason()).toBeNull();
    for (const stored of ["50 %", "caf%C3%A9", "żółw 🐢", '"quoted" \\', "🐶".repeat(200)]) {
      expect((await batch(key, JSON.stringify(stored))).status).toBe(200);
      expect(await lastReason()).toBe(stored);
    }
    expect((await batch(key, '""')).status).toBe(200);
    expect(await lastReason()).toBeNull();
  });

  test("gets 400 if it is too long, not decodable or has control characters", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    await expectUnchanged(service().store, async () => {
      const headers = ["%", "50% off", "%zz", "%FF", "%C3", "%ED%A0%80", "a%00b", "%0A", "%C2%85"];
      const long = ["x".repeat(201), "x".repeat(10_000), encodeURIComponent("é".repeat(201))];
      for (const sent of [...headers, ...long, "a\tb", "café"]) {
        const response = await update(key, sent);
        expectError(response, "invalid_request");
        expect(response.text).toContain("'X-Change-Reason'");
      }
      const fields = ['"\\u0000"', '"a\\nb"', '"\\u0085"', '"\\ud800"', "5", "null", "[]", "true"];
      for (const sent of [...fields, JSON.stringify("x".repeat(201))]) {
        const response = await batch(key, sent);
        expectError(response, "invalid_request");
        expect(response.text).toContain("Change 0 (pet 1): Field 'reason'");
      }
    });
  });

  test("gets 400 for raw bytes outside ASCII", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const client = await connectRaw(service().baseUrl);
    const head = `PATCH /v1/inventory/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
    const bytes = Buffer.from(`${head}X-Change-Reason: caf`, "latin1");
    const end = Buffer.from('\r\nContent-Length: 14\r\n\r\n{"quantity":1}', "latin1");
    await expectUnchanged(service().store, async () => {
      for (const written of [[0xe9], [0xc3, 0xa9], [0x80]]) {
        client.send(Buffer.concat([bytes, Buffer.from(written), end]));
        expectError(await client.answer(), "invalid_request");
      }
    });
    client.end();
  });
});
