import type { Sequence } from "../instances/chaos.ts";
import type { Engine } from "../service.ts";
import { checkSafeWrites } from "./checker.ts";
import { isAcknowledged } from "./history.ts";
import { openSite } from "./sites.ts";
import { startSafeTraffic } from "./traffic.ts";

const clients = 12;

export interface RetryOptions extends Partial<Sequence> {
  readonly pauseMsMax?: number;
}

/**
 * Lets clients write, lose answers and try again while one fault follows another, and checks that
 * every write took effect at most once, and once if it was acknowledged.
 */
export async function endureRetries(
  engine: Engine,
  rounds: number,
  writesBetween: number,
  { instances = 3, pauseMsMax = 0, ...others }: RetryOptions = {},
) {
  const site = await openSite[engine]({ size: instances, ...others });
  const traffic = startSafeTraffic(site, clients, pauseMsMax);
  try {
    const { sequence = site.faults } = others;
    const more = () => traffic.more(writesBetween);
    await more();
    for (let round = 0; round < rounds; round++) {
      const fault = sequence[round % sequence.length]!;
      await site.inflict(fault, round, more, others.random);
      await more();
    }
    await traffic.end();
    const { writes, reads } = traffic;
    const { initial } = site;
    const ledger = await site.ledger();
    const { code, err, out } = await site.verify();
    const wrong = [
      ...traffic.surprises,
      ...(code === 0 && err === "" ? [] : [`verify: ${err}${out}`]),
      ...checkSafeWrites({ initial, writes, reads, ledger }),
    ];
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
      wrong,
    };
  } finally {
    await site.leave();
    // Without instances, the clients of a trial that failed soon end too.
    await traffic.end().catch(() => {});
  }
}
