// A served store with load, whose disk a round breaks.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { RunOptions, Workspace } from "../../test/support/process.ts";
import { importPets } from "../../test/support/stocking.ts";
import { createGate, type Gate } from "../gate.ts";
import { type Load, sendLoad } from "../load.ts";
import type { Round } from "../part.ts";
import { createStore, faultsIn, type Keys, localWebhooks } from "../store.ts";
import { type Answers, createAnswers, probePet } from "./answers.ts";

export interface Site {
  readonly place: Workspace;
  /** The folder of the store. */
  readonly data: string;
  readonly file: string;
  readonly database: string;
  readonly keys: Keys;
}

export async function createSite(place: Workspace, data: string): Promise<Site> {
  mkdirSync(data);
  const file = join(data, "production.db");
  const database = `sqlite:${file}`;
  const keys = await createStore(database);
  await importPets(database, `{"petId":${probePet},"name":"Probe"}`);
  return { place, data, file, database, keys };
}

export const serveWords = ({ database }: Site) => [
  "serve",
  "--database",
  database,
  ...localWebhooks,
];

interface LoadOptions {
  readonly ms: number;
  /** How the service is run. */
  readonly options?: RunOptions;
  position?(): number;
  /** Breaks something while the service has load. */
  work(isOver: () => boolean, answers: Answers, baseUrl: string, gate: Gate): Promise<void>;
  /** Done after the service is killed and before its store is opened again. */
  mend?(): Promise<void>;
}

/** Serves the store with load, kills the service and compares the store with what clients were told. */
export async function withLoad(
  round: Round,
  site: Site,
  { ms, options, position = () => performance.now(), work, mend }: LoadOptions,
): Promise<Load> {
  let service = await site.place.serve(serveWords(site), options);
  const baseUrl = () => service.baseUrl;
  const answers = createAnswers(round, site.keys, baseUrl);
  const endsAt = performance.now() + ms;
  let isWorking = true;
  const gate = createGate();
  gate.open();
  const isOver = () => performance.now() >= endsAt;
  const working = work(isOver, answers, baseUrl(), gate).finally(() => {
    isWorking = false;
  });
  const reading = answers.read(() => !isWorking);
  const target = { ...site.keys, baseUrl, position, mayFail: answers.mayFail, pass: gate.pass };
  const [load] = await Promise.all([sendLoad(target, round.random, ms), working, reading]);
  round.acknowledged(load.told.length);
  await answers.checkLog(service);

  service.kill("SIGKILL");
  await service.exited;
  await mend?.();
  if (!round.isShort) {
    service = await site.place.serve(serveWords(site));
    await answers.recover("a restart");
    service.kill("SIGKILL");
    await service.exited;
  }
  for (const { wrong, what } of await faultsIn(site.database, load, Number.POSITIVE_INFINITY))
    round.fail(wrong, `${what} (after a kill)`);
  answers.checkLedger(site.file, load);
  return load;
}
