import { expect } from "bun:test";
import type { Engine } from "../service.ts";
import { checkSafeWrites } from "./checker.ts";
import { isAcknowledged } from "./history.ts";
import { openSite } from "./sites.ts";
import { startSafeTraffic } from "./traffic.ts";

const clients = 12;

/**
 * Lets clients write, lose answers and try again while one fault follows another, and checks that
 * every write took effect at most once, and once if it was acknowledged.
 */
export async function endureRetries(
  engine: Engine,
  rounds: number,
  writesBetween: number,
  { instances = 3, pauseMsMax = 0 } = {},
) {
  const site = await openSite[engine](instances);
  try {
    const traffic = startSafeTraffic(site, clients, pauseMsMax);
    await traffic.more(writesBetween);
    for (let round = 0; round < rounds; round++) {
      const fault = site.faults[round % site.faults.length]!;
      await site.inflict(fault, round, () => traffic.more(writesBetween));
      await traffic.more(writesBetween);
    }
    await traffic.end();
    expect(traffic.surprises).toEqual([]);
    expect(await site.verify()).toMatchObject({ code: 0, err: "" });
    const { writes, reads } = traffic;
    const { initial } = site;
    const ledger = await site.ledger();
    expect(checkSafeWrites({ initial, writes, reads, ledger })).toEqual([]);
    const answers = writes.flatMap((write) => write.answers);
    const stored = new Set(ledger.map(({ reason }) => reason));
    return {
      writes: writes.length,
      acknowledged: writes.filter(isAcknowledged).length,
      unanswered: writes.reduce((sum, write) => sum + write.unanswered, 0),
      replayed: answers.filter(({ isReplayed }) => isReplayed).length,
      rejected: answers.filter(({ status }) => status !== 200).length,
      storedWithoutAnswer: writes.filter((write) => !isAcknowledged(write) && stored.has(write.id))
        .length,
      ledgerRows: ledger.length,
      reads: reads.length,
    };
  } finally {
    await site.leave();
  }
}
