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

  test("[open.if-match-update] an update with If-Match gets 412 unless it matches the current entry, and 400 if it is no tag", async () => {
    const key = await issue();
    await service().addPets({ petId: 10n, quantity: 1 });
    const patch = (path: string, tag: string, body = '{"quantity":5}') =>
      service().call("PATCH", path, { key, body, headers: { "If-Match": tag } });
    const read = await service().call("GET", "/inventory/10", { key });
    const tag = read.headers.get("ETag")!;
    const version = tag.slice(1, -1).split("-").at(-1)!;
    const foreign = [
      `"${version}"`,
      `"-${version}"`,
      `"other-${version}"`,
      `"${tag.slice(1, -1)}0"`,
    ];
    const malformed = ["", "nonsense", '*, "1"', "W/*", tag.slice(1, -1), tag.slice(1), `x ${tag}`];
    await expectUnchanged(service().store, async () => {
      for (const given of [`W/${tag}`, ...foreign]) {
        const response = await patch("/inventory/10", given);
        expectError(response, "precondition_failed");
        expect(response.headers.get("ETag")).toBe(tag);
        const { message } = response.json as { message: string };
        expect(message).toContain(`quantity is 1 and its version is ${version}.`);
        expect(message).toEndWith(`send 'If-Match: ${tag}'.`);
      }
      for (const given of malformed) {
        const response = await patch("/inventory/10", given);
        expectError(response, "invalid_request");
        expect(response.text).toContain("the whole ETag of the entry with its quotes");
        const headers = { "If-Match": given };
        const read = await service().call("GET", "/inventory/10", { key, headers });
        expectError(read, "invalid_request");
      }
      // RFC 9110 13.2.1: a request that fails without the condition fails in the same way with it.
      expectError(await patch("/inventory/404", '"1"'), "not_found");
      expectError(await patch("/inventory/10", '"1"', "{}"), "invalid_request");
      expectError(await patch("/inventory/404", "*"), "not_found");
    });
    for (const given of ["*", " * "]) {
      expect((await patch("/inventory/10", given)).json).toMatchObject({ petId: 10, quantity: 5 });
    }
    let current = (await patch("/inventory/10", "*")).headers.get("ETag")!;
    for (const listed of [(one: string) => one, (one: string) => `"other", W/"x",,${one}`]) {
      const response = await patch("/inventory/10", listed(current));
      expect(response.status).toBe(200);
      expect(response.headers.get("ETag")).not.toBe(current);
      current = response.headers.get("ETag")!;
    }
    expectError(await patch("/inventory/10", tag), "precondition_failed");
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
