import { expect, test } from "bun:test";
import { createCommitter } from "../src/domain/commits.ts";
import type { Change, Outcome } from "../src/domain/ledger.ts";

const change = (petId: bigint): Change => ({
  petId,
  quantity: 1,
  cause: "api",
  keyId: "key",
  requestId: "req",
  reason: null,
});

test("a disk that hangs keeps no update waiting, and what it stored in the end is shown", async () => {
  const hanging = Promise.withResolvers<void>();
  const committed: (readonly Outcome[])[] = [];
  let commits = 0;
  const store = {
    async commit(changes: readonly Change[]): Promise<readonly Outcome[]> {
      commits += 1;
      if (commits === 1) await hanging.promise;
      return changes.map(() => "not_found");
    },
  };
  const bounds = { groupMax: 10, queueMax: 10, answerMsMax: 50 };
  const committer = createCommitter(store, bounds, (outcomes) => committed.push(outcomes));
  const refused = expect.objectContaining({ code: "unavailable" });

  const first = committer.submit(change(1n));
  const behind = Bun.sleep(10).then(() => committer.submit(change(2n)));
  const [sent, unsent] = await Promise.allSettled([first, behind]);
  expect(sent).toEqual({ status: "rejected", reason: refused });
  expect(sent).toMatchObject({ reason: { message: expect.stringContaining("may have been") } });
  expect(unsent).toEqual({ status: "rejected", reason: refused });
  await expect(committer.submit(change(3n))).rejects.toEqual(refused);
  expect(commits).toBe(1);

  hanging.resolve();
  await committer.idle();
  expect(committed).toEqual([["not_found"]]);
  expect(await committer.submit(change(4n))).toBe("not_found");
  expect(commits).toBe(2);
});
