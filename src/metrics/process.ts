import { readdir, readFile } from "node:fs/promises";
import { every } from "../domain/running/background.ts";
import type { Log } from "../domain/running/events.ts";
import type { Registry } from "./registry.ts";
import { metrics } from "./table.ts";

const delayEveryMs = 50;

/** Measures how late a timer fires: the time for which the event loop did something else. */
export function measureEventLoop(registry: Registry, monotonicMs: () => number, log: Log) {
  const delays = registry.histogram(metrics.eventLoopDelay);
  let dueAt = monotonicMs() + delayEveryMs;
  return every(delayEveryMs, "measuring the event loop", log, () => {
    const now = monotonicMs();
    delays.observe(Math.max(0, now - dueAt) / 1_000);
    dueAt = now + delayEveryMs;
  });
}

/** Adds the standard metrics of a process. Returns what reads the descriptors again. */
export function addProcessMetrics(registry: Registry): () => Promise<void> {
  registry.read(metrics.cpuSeconds, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  registry.read(metrics.residentBytes, () => process.memoryUsage.rss());
  const openFds = registry.gauge(metrics.openFds);
  const maxFds = registry.gauge(metrics.maxFds);
  registry.gauge(metrics.startTime).value = Date.now() / 1_000 - process.uptime();
  return async () => {
    // Without /proc, there is no value.
    const names = await readdir("/proc/self/fd").catch(() => undefined);
    // The directory that is read is itself a descriptor.
    openFds.value = names && names.length - 1;
    maxFds.value = await readDescriptorLimit().catch(() => undefined);
  };
}

async function readDescriptorLimit(): Promise<number> {
  const limits = await readFile("/proc/self/limits", "utf8");
  const limit = /^Max open files +(\w+)/m.exec(limits)?.[1];
  return limit === "unlimited" ? Infinity : Number(limit);
}
