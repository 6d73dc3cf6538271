/**
 * Serves like `petstore serve`, with short times for webhooks: another instance takes over after
 * seconds, and a failed attempt is repeated after milliseconds. Run as a process.
 */
import { startService } from "../../../src/compose.ts";
import { readConfig } from "../../../src/config.ts";
import { createLog } from "../../../src/log.ts";
import { systemClock } from "../../../src/opening/engines.ts";
import { trialBounds } from "./bounds.ts";

/** The first bound for the jitter is 5 s. */
const jitterShare = 0.02;
const { random } = Math;
Math.random = () => random() * jitterShare;

const words = process.argv.slice(3);
const flags = Object.fromEntries(
  Array.from({ length: words.length / 2 }, (_, pair) => [
    words[2 * pair]!.replace(/^--/, ""),
    words[2 * pair + 1],
  ]),
);
const config = { ...readConfig(flags), webhooks: trialBounds };
const service = await startService({
  config,
  clock: systemClock,
  log: createLog({ format: "json", level: "info" }),
});
process.on("SIGTERM", async () => {
  await service.stop();
  process.exit(0);
});
console.log(`The instance is serving at ${service.baseUrl}`);
