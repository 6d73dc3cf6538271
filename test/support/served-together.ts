import { startService } from "../../src/compose.ts";
import { readConfig } from "../../src/config.ts";
import { systemClock } from "../../src/engines.ts";

/**
 * Serves several stores in one process, because the start of a process costs more than a test. A POST
 * with the address of a store starts a service on it and returns its base URL. Each line of its log
 * begins with the address of the store.
 */
const control = Bun.serve({
  port: 0,
  async fetch(request) {
    const database = await request.text();
    const log = (event: string, details?: Record<string, unknown>) =>
      console.log(database, JSON.stringify({ event, ...details }));
    const config = readConfig({ port: "0", database }, {});
    return new Response((await startService({ config, clock: systemClock, log })).baseUrl);
  },
});
console.log(`starts services at ${control.url}`);
