// Services whose files tests damage, and what they say about it.
import { expect } from "bun:test";
import { resolve } from "node:path";
import { openWorkspace, type Served } from "./process.ts";
import { call } from "./service.ts";
import { until } from "./until.ts";

/** A service and its log, in any process. */
export type Watched = Pick<Served, "baseUrl" | "written" | "wrote">;

export const readiness = async (service: Watched) =>
  (await call(service.baseUrl, "GET", "~/readyz")).status;

/** A service on a machine of its own needs less than a second. */
export async function untilUnready(service: Watched): Promise<void> {
  await until(async () => (await readiness(service)) !== 200, 5_000, "damage noticed");
}

/** The one line about damage in the log, which is written later. The whole log must be JSON. */
export async function damageIn(service: Watched): Promise<Record<string, string>> {
  await service.wrote("store file damaged");
  const lines = service
    .written()
    .split("\n")
    .filter((line) => line !== "" && !line.includes("is serving at"))
    .map((line) => JSON.parse(line));
  const [damage, ...more] = lines.filter(({ event }) => event === "store file damaged");
  expect(more).toEqual([]);
  expect(lines.length).toBeLessThan(10);
  return damage;
}

/** A process that serves several stores. */
export interface Host {
  /** Starts a service on the store at this address. */
  serve(database: string): Promise<Watched>;
  /** Stops the service on the store at this address, as SIGTERM does. */
  stop(database: string): Promise<void>;
  /** Kills the process with all its services. */
  kill(): Promise<void>;
}

/** The start of a process takes more processor time than a test of one mistake, so many share it. */
export async function startHost(): Promise<Host> {
  const place = openWorkspace();
  const script = resolve(import.meta.dir, "served-together.ts");
  const host = place.start([], { command: [process.execPath, script] });
  await host.wrote("starts services at");
  const control = /http\S+/.exec(host.written())![0];
  return {
    async serve(database) {
      const response = await fetch(control, { method: "POST", body: database });
      const baseUrl = await response.text();
      expect({ status: response.status, baseUrl }).toMatchObject({ status: 200 });
      const written = () =>
        host
          .written()
          .split("\n")
          .filter((line) => line.startsWith(`${database} `))
          .map((line) => line.slice(database.length + 1))
          .join("\n");
      const wrote = async (text: string) =>
        void (await until(() => written().includes(text), 8_000, text));
      return { baseUrl, written, wrote };
    },
    async stop(database) {
      const { status } = await fetch(control, { method: "DELETE", body: database });
      expect(status).toBe(200);
    },
    kill: () => place.leave(),
  };
}
