import { expect, test } from "bun:test";
import { onEveryEngine } from "../support/conformance.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";

onEveryEngine("preconditions", (service) => {
  const issue = async () => (await service().issueKey()).text;
  const list = (key: string, headers: Record<string, string> = {}) =>
    service().call("GET", "/inventory", { key, headers });

  test("[open.if-match] If-Match on the list gets 412 unless it matches the current list", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const tag = (await list(key)).headers.get("ETag")!;
    const coded = `"${tag.slice(1, -1)}-gzip"`;
    for (const given of [tag, `"other", ${tag}`, "*", coded]) {
      expect((await list(key, { "If-Match": given })).status).toBe(200);
    }
    for (const given of ['"other"', `W/${tag}`, tag.slice(1, -1), "", `*, ${tag}x`, "W/*"]) {
      expectError(await list(key, { "If-Match": given }), "precondition_failed");
      expect(
        (await service().call("HEAD", "/inventory", { key, headers: { "If-Match": given } }))
          .status,
      ).toBe(412);
    }
    // RFC 9110 13.2.2: If-Match is evaluated first.
    const both = { "If-Match": '"other"', "If-None-Match": tag };
    expectError(await list(key, both), "precondition_failed");
    expect((await list(key, { ...both, "If-Match": tag })).status).toBe(304);
    await service().addPets({ petId: 2n });
    expectError(await list(key, { "If-Match": tag }), "precondition_failed");
  });

  test("[open.if-match-update] an update with If-Match gets 412, except with *", async () => {
    const key = await issue();
    await service().addPets({ petId: 10n, quantity: 1 });
    const patch = (path: string, tag: string, body = '{"quantity":5}') =>
      service().call("PATCH", path, { key, body, headers: { "If-Match": tag } });
    const tag = (await list(key)).headers.get("ETag")!;
    await expectUnchanged(service().store, async () => {
      for (const given of [tag, '"1"', 'W/"1"', "", "nonsense", '*, "1"']) {
        expectError(await patch("/inventory/10", given), "precondition_failed");
      }
      // RFC 9110 13.2.1: a request that fails without the condition fails in the same way with it.
      expectError(await patch("/inventory/404", '"1"'), "not_found");
      expectError(await patch("/inventory/10", '"1"', "{}"), "invalid_request");
      expectError(await patch("/inventory/404", "*"), "not_found");
    });
    expect((await patch("/inventory/10", "*")).json).toMatchObject({ petId: 10, quantity: 5 });
  });

  test("[open.not-modified-tag] a 304 has the ETag that the 200 would have had", async () => {
    const key = await issue();
    await service().addPets(
      ...Array.from({ length: 200 }, (_, at) => ({ petId: BigInt(1_000 + at) })),
    );
    const plain = (await list(key, { "Accept-Encoding": "identity" })).headers.get("ETag")!;
    let gzip = plain;
    while (gzip === plain) {
      gzip = (await list(key, { "Accept-Encoding": "gzip" })).headers.get("ETag")!;
    }
    expect(gzip).toBe(`"${plain.slice(1, -1)}-gzip"`);
    const asked = [
      ["gzip", gzip, gzip],
      ["gzip", plain, gzip],
      ["identity", plain, plain],
      ["identity", gzip, plain],
      // This encoding does not exist yet, and a conditional request does not start to compress.
      ["br", gzip, plain],
      ["br", plain, plain],
      ["br", "*", plain],
      ["gzip", `"other", W/${plain}`, gzip],
    ] as const;
    for (const [coding, known, expected] of asked) {
      const headers = { "Accept-Encoding": coding, "If-None-Match": known };
      const response = await list(key, headers);
      expect([coding, known, response.status]).toEqual([coding, known, 304]);
      expect([coding, known, response.headers.get("ETag")]).toEqual([coding, known, expected]);
    }
  });
});
