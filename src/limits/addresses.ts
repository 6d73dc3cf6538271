import { type LimitDecision, setBackMsMax, type Window } from "../domain/limits/limits.ts";
import type { Clock } from "../domain/running/clock.ts";
import { minuteMs } from "../domain/values/times.ts";

/**
 * Counts requests without a valid key, by client address and minute, in this process only. Addresses
 * beyond `addressesMax` share one count. An attacker with a million addresses therefore limits only
 * requests without a valid key, and memory stays bounded.
 */
export function createAddressLimiter(clock: Clock, perMinute: number, addressesMax: number) {
  const counts = new Map<string, number>();
  let minuteStart = 0;

  /** The bucket that counts an address in the minute of `now`. */
  function bucketAt(now: number, address: string): string {
    const start = now - (now % minuteMs);
    if (start > minuteStart) {
      minuteStart = start;
      counts.clear();
    } else if (minuteStart > now + setBackMsMax) {
      // A clock that was ahead started this minute. See the rules of the rate limit.
      minuteStart = start;
    }
    const own = bucketOf(address);
    return counts.has(own) || counts.size < addressesMax ? own : "others";
  }

  function decision(outcome: LimitDecision["outcome"], now: number, used: number): LimitDecision {
    const remaining = perMinute - used;
    const minute: Window = { limit: perMinute, remaining, resetAt: minuteStart + minuteMs };
    return { outcome, banBegan: false, now, binding: minute, minute, day: null };
  }

  return {
    take(address: string): LimitDecision {
      const now = clock.now();
      const bucket = bucketAt(now, address);
      const used = counts.get(bucket) ?? 0;
      if (used >= perMinute) return decision("limited", now, used);
      counts.set(bucket, used + 1);
      return decision("admitted", now, used + 1);
    },
    /** The current state of an address, for a response that counts nothing. */
    peek(address: string): LimitDecision {
      const now = clock.now();
      return decision("admitted", now, counts.get(bucketAt(now, address)) ?? 0);
    },
  };
}

/** The bucket of an address. An IPv6 /64 is one bucket, because networks assign one per customer. */
export function bucketOf(address: string): string {
  if (!address.includes(":")) return address;
  const mapped = /^::ffff:(?:([0-9.]+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i.exec(address);
  if (mapped) return mapped[1] ?? dotted(mapped[2]!, mapped[3]!);
  const [head = "", tail] = address.split("%")[0]!.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(zeros).fill("0"), ...back];
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""))
    .join(":");
}

/** The IPv4 address that is mapped to the last two groups of an IPv6 address. */
function dotted(...groups: string[]): string {
  const bytes = groups.map((group) => Number.parseInt(group, 16)).flatMap((n) => [n >> 8, n & 255]);
  return bytes.join(".");
}
