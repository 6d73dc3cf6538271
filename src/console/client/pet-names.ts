import { signal } from "@preact/signals";
import { namedPetsMax } from "../../domain/values/bounds.ts";
import { request } from "./api.ts";
import { listen } from "./live.ts";
import { onRenamed, whenWatchingNames } from "./renames.ts";
import { pause, retryDelayMs } from "./retries.ts";
import type { PetName } from "./types.ts";

// The names of the pets in view. The ledger has only ids, so names are loaded when they are first
// shown. The whole stock would be megabytes.

/** By id. Null if there is no such pet any more. */
const names = signal<ReadonlyMap<string, string | null>>(new Map());
/** What is on the page and not known yet. */
const wanted = new Set<string>();
/** What the current request asks for. */
const asked = new Set<string>();
let isAsking = false;

/** More names than this are forgotten, and those in view loaded again. */
const namesMax = 10_000;

/** The name of a pet, or undefined if it was removed or is not loaded yet. */
export function findPetName(petId: string): string | undefined {
  const name = names.value.get(petId);
  if (name === undefined && !asked.has(petId)) {
    wanted.add(petId);
    void ask();
  }
  return name ?? undefined;
}

/** Loads what people recognise these pets by. Those that do not exist are left out. */
export async function describePets(petIds: readonly string[]): Promise<readonly PetName[]> {
  const found: PetName[] = [];
  for (let start = 0; start < petIds.length; start += namedPetsMax) {
    const ids = petIds.slice(start, start + namedPetsMax).join();
    found.push(...(await request<readonly PetName[]>(`/pets?ids=${ids}`)));
  }
  return found;
}

/** Starts to follow the feed, after signing in. Returns a function that stops. */
export function startPetNames(): () => void {
  const stopListening = listen({
    // A pet that is created again can have another name.
    rows: (rows) =>
      forget(rows.filter(({ before, after }) => !before || !after).map(({ petId }) => petId)),
    reset: () => forget([...names.peek().keys(), ...asked]),
  });
  return () => {
    // Nothing of one session is left for the next person.
    stopListening();
    wanted.clear();
    asked.clear();
    names.value = new Map();
  };
}

onRenamed((renamed) => forget(renamed ?? [...names.peek().keys(), ...asked]));

/** Asks for all names that one update of the page needs in one request. */
async function ask(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  await whenWatchingNames();
  for (let failures = 0; wanted.size > 0; ) {
    for (const petId of wanted) asked.add(petId);
    wanted.clear();
    try {
      learn(await describePets([...asked]));
      failures = 0;
    } catch {
      // The ids are shown meanwhile.
      for (const petId of asked) wanted.add(petId);
      failures += 1;
      await pause(retryDelayMs(failures));
    }
    asked.clear();
  }
  isAsking = false;
}

function learn(found: readonly PetName[]): void {
  const known = names.peek();
  const next = new Map(known.size > namesMax ? [] : known);
  const byId = new Map(found.map(({ petId, name }) => [petId, name]));
  for (const petId of asked) next.set(petId, byId.get(petId) ?? null);
  // Before the page is drawn again, which asks for the names that are still missing.
  asked.clear();
  names.value = next;
}

/** The page asks again for the names in view. A response that is on its way may have an old name. */
function forget(petIds: Iterable<string>): void {
  const next = new Map(names.peek());
  let forgotten = 0;
  for (const petId of petIds) {
    if (next.delete(petId)) forgotten += 1;
    if (asked.delete(petId)) forgotten += 1;
  }
  if (forgotten > 0) names.value = next;
}
