import { afterAll, expect, test } from "bun:test";
import { petstore } from "../support/process.ts";
import { openStoreWorkspace } from "../support/workspaces.ts";

const place = await openStoreWorkspace("sqlite");
afterAll(() => place.leave());

test("a long ledger is printed completely, and a reader may stop early", async () => {
  const many = Array.from({ length: 5_005 }, (_, at) => `{"petId":${at},"name":"x"}`);
  await place.importPets(...many);
  const seqs = (await place.rows<{ seq: number }>("ledger")).map(({ seq }) => seq);
  expect(seqs).toEqual(Array.from({ length: 5_005 }, (_, at) => at + 1));
  expect((await place.runHere(["ledger"])).out.split("\n")).toHaveLength(5_007);
  // Each output is longer than what a pipe and the buffer of head hold.
  const command = ["sh", "-c", `{ "${petstore}" "$@"; echo "code $?" >&2; } | head -2`, "sh"];
  for (const words of [
    ["ledger", "--follow"],
    ["snapshot", "5005"],
  ]) {
    const { out, err } = await place.run(words, { command });
    expect(out.split("\n")).toHaveLength(3);
    expect(err).toBe("code 141\n");
  }
});
