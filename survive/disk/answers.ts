// What clients were told while the disk failed, compared with the ledger and the log afterwards.
import { Database } from "bun:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { type UnavailableReason, unavailableMessages } from "../../src/domain/running/errors.ts";
import type { Served } from "../../test/support/process.ts";
import { type Asked, type Load, Refused, setPets } from "../load.ts";
import type { Round } from "../part.ts";
import type { Keys } from "../store.ts";

/** The pet of the updates that look whether the store works again. No other client changes it. */
export const probePet = 21;

/** Generous: the service recovers at once, but the machine may be slow. */
const recoveryMs = 60_000;

const reasonOf = new Map(
  Object.entries(unavailableMessages).map(([reason, text]) => [text as string, reason]),
);
/** Reasons of an update that say that the disk itself failed. */
const diskReasons: readonly UnavailableReason[] = ["full", "unreachable", "unwritable"];

/** What docs/outcomes.md says that only an update that may have been stored is told. */
export const notKnown = "It is not known whether the update was stored.";

const nameOf = (petId: number, quantity: number) => `${petId} to ${quantity}`;

/** Watches the answers of one service. Each has a request that sets a pet to a quantity of its own. */
export function createAnswers(round: Round, keys: Keys, baseUrl: () => string) {
  /** What clients were told of updates that failed, by their names. */
  const failed = new Map<string, string>();
  const probes: Asked[] = [];
  /** What reads have shown. */
  const seen = new Set<string>();
  const reasons = new Set<string>();
  const updateReasons = new Set<string>();

  /** Records an answer to a write that is not a success. */
  function refused({ request, body, response, text, message }: Refused): void {
    // The first attempt of the same batch, or another import, may still be under way.
    if (response.status === 409 && request.startsWith("POST /")) return;
    let json: Record<string, unknown> = {};
    try {
      json = JSON.parse(text);
    } catch {}
    const told = String(json.message);
    const reason = reasonOf.get(told);
    const isImport = told.startsWith("The import failed: ");
    const isShaped = response.status === 503 && json.status === 503 && json.code === "unavailable";
    const mayRetry = Number(response.headers.get("Retry-After")) >= 1;
    if (!isShaped || !mayRetry || (reason === undefined && !isImport))
      round.fail("wrong", `not a proper refusal: ${message}`);
    if (reason !== undefined) reasons.add(reason);
    const pet = /^PATCH \/inventory\/(\d+)$/.exec(request)?.[1];
    if (pet !== undefined) {
      updateReasons.add(String(reason));
      failed.set(nameOf(Number(pet), JSON.parse(body).quantity), told);
    }
    if (request.startsWith("POST /admin/pets/import"))
      for (const line of body.split("\n")) failed.set(nameOf(JSON.parse(line).petId, 7), told);
  }

  /** Sends one update. Returns whether it is stored. */
  async function probe(): Promise<boolean> {
    const quantity = probes.length + 1;
    probes.push({ position: 0, petId: probePet, quantity });
    const body = JSON.stringify({ quantity });
    const path = `/inventory/${probePet}`;
    const headers = { Authorization: `Bearer ${keys.key}` };
    const response = await fetch(baseUrl() + path, { method: "PATCH", headers, body });
    const text = await response.text();
    if (!response.ok) refused(new Refused(`PATCH ${path}`, body, response, text));
    return response.ok;
  }

  return {
    probe,
    mayFail(error: Error): boolean {
      if (error instanceof Refused) refused(error);
      else round.fail("wrong", `no answer: ${error.message}`);
      return true;
    },
    /** Reads the list and one entry until it is over. They must be answered. */
    async read(isOver: () => boolean): Promise<void> {
      const headers = { Authorization: `Bearer ${keys.key}` };
      while (!isOver()) {
        for (const path of ["/inventory", `/inventory/${round.random.pick(setPets)}`]) {
          const response = await fetch(baseUrl() + path, { headers });
          const text = await response.text();
          if (response.status !== 200) {
            round.fail("wrong", `a read got ${response.status} ${text}`);
            continue;
          }
          for (const entry of [JSON.parse(text)].flat())
            if (entry.quantity > 0) seen.add(nameOf(entry.petId, entry.quantity));
        }
        await sleep(20);
      }
    },
    /** Waits until updates are stored again and the service is ready, without a restart. */
    async recover(after: string): Promise<void> {
      const until = performance.now() + recoveryMs;
      const isReady = async () => (await fetch(new URL("/readyz", baseUrl()))).status === 200;
      while (!(await probe()) || !(await isReady())) {
        if (performance.now() > until) {
          round.fail("wrong", `no recovery within ${recoveryMs / 1000} s after ${after}`);
          return;
        }
        await sleep(100);
      }
    },
    /** The log must name every reason for which requests failed. */
    async checkLog(service: Pick<Served, "written">): Promise<void> {
      const wanted = [...reasons].map(
        (reason) => `"event":"requests failing","reason":"${reason}"`,
      );
      if (diskReasons.some((reason) => updateReasons.has(reason)))
        wanted.push('"event":"store not writable"');
      await findLines(round, service, wanted);
    },
    /** Compares every row of a stopped store with the answers. */
    checkLedger: (file: string, { asked }: Load) =>
      compareLedger(round, file, { asked: [...asked, ...probes], failed, seen }),
  };
}

const isSet = (petId: number) => petId === probePet || setPets.includes(petId);

async function findLines(
  round: Round,
  service: Pick<Served, "written">,
  wanted: readonly string[],
): Promise<void> {
  for (const line of wanted) {
    for (let n = 0; n < 100 && !service.written().includes(line); n++) await sleep(20);
    if (!service.written().includes(line)) round.fail("wrong", `the log lacks ${line}`);
  }
  if (service.written().includes('"event":"bug"'))
    round.fail("wrong", `the log has a bug: ${/.*"event":"bug".*/.exec(service.written())![0]}`);
}

interface Known {
  readonly asked: readonly Asked[];
  readonly failed: ReadonlyMap<string, string>;
  readonly seen: ReadonlySet<string>;
}

function compareLedger(round: Round, file: string, { asked, failed, seen }: Known): void {
  using database = new Database(file, { readonly: true });
  const counts = new Map<string, number>();
  const select = "SELECT pet_id, quantity_after FROM ledger WHERE quantity_after > 0";
  for (const [petId, quantity] of database.query(select).values() as [number, number][]) {
    const name = nameOf(petId, quantity);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const sets = asked.filter((one) => isSet(one.petId));
  const known = new Set(sets.map((one) => nameOf(one.petId, one.quantity)));
  for (const name of known) {
    const count = counts.get(name) ?? 0;
    if (count > 1) round.fail("doubled", `pet ${name} is stored ${count} times`);
    if (count === 0 && !failed.has(name)) round.fail("lost", `pet ${name} is not stored`);
  }
  for (const [name, told] of failed)
    if (!told.includes(notKnown) && counts.has(name))
      round.fail("late", `pet ${name} is stored after: ${told}`);
  for (const name of counts.keys())
    if (isSet(Number.parseInt(name, 10)) && !known.has(name))
      round.fail("phantom", `pet ${name} is stored`);
  for (const name of seen)
    if (!counts.has(name)) round.fail("lost", `pet ${name} was read, and is not stored`);
}

export type Answers = ReturnType<typeof createAnswers>;
