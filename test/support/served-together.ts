import { type Service, startService } from "../../src/compose.ts";
import { readConfig } from "../../src/config.ts";
import { systemClock } from "../../src/opening/engines.ts";

/**
 * Serves several stores in one process, because the start of a process costs more than a test. A POST
 * with the address of a store starts a service on it and returns its base URL, and a DELETE stops that
 * service as SIGTERM does. Each line of its log begins with the address of the store.
 */
const services = new Map<string, Service>();
const control = Bun.serve({
  port: 0,
  async fetch(request) {
    const database = await request.text();
    if (request.method === "DELETE") {
      await services.get(database)!.stop();
      return new Response();
    }
    const log = (event: string, details?: Record<string, unknown>) =>
      console.log(database, JSON.stringify({ event, ...details }));
    const config = readConfig({ port: "0", database }, {});
    const service = await startService({ config, clock: systemClock, log });
    services.set(database, service);
    return new Response(service.baseUrl);
  },
});
console.log(`starts services at ${control.url}`);
