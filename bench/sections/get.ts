// GET /v1/inventory compared with the floor and the peer, by size of the catalogue.
import { type Bench, compare, divide, formatEntries, readersFor, type Task } from "../bench.ts";
import { captureList, startFloor, startPeer, startService } from "../contestants.ts";
import type { FigureName } from "../figures.ts";
import type { Measured } from "../generator.ts";
import type { Contestant } from "../start-server.ts";

// The peer encodes the whole list for each request, so longer lists would only take time.
const peerEntriesMax = 10_000;

const floorFigures: Record<number, FigureName> = {
  20: "getFloor20",
  1000: "getFloor1000",
  10000: "getFloor10000",
  100000: "getFloor100000",
};
const peerFigures: Record<number, FigureName> = { 20: "getPeer20", 10000: "getPeer10000" };

export async function get(bench: Bench): Promise<void> {
  const sizes = bench.options.quick ? [20, 1000] : [20, 1000, 10_000, 100_000];
  for (const entries of sizes) await getAt(bench, entries);
}

async function getAt(bench: Bench, entries: number): Promise<void> {
  const { results, directory } = bench;
  const started = await startService({ directory, entries });
  const contestants: Contestant[] = [started, await startFloor(started, directory)];
  if (bench.peerProblem === undefined && entries <= peerEntriesMax) {
    contestants.push(await startPeer({ directory, entries }));
  }
  const tasks: Task[] = [];
  for (const contestant of contestants) {
    const expectedFile = await captureList(contestant, directory, entries);
    const connections = readersFor(bench.options, entries);
    tasks.push({ contestant, work: { kind: "get", connections, expectedFile } });
  }
  const measured = await compare(bench, tasks);
  for (const [index, { name }] of contestants.entries()) {
    results.addRow(`GET, ${formatEntries(entries)}`, name, "get", measured[index]!);
  }
  const [service, floor, peer] = measured as [Measured, Measured, Measured | undefined];
  const floorFigure = floorFigures[entries];
  if (floorFigure)
    results.addFigure(floorFigure, divide(service.cpuMicroseconds, floor.cpuMicroseconds));
  const peerFigure = peerFigures[entries];
  if (peerFigure && peer)
    results.addFigure(peerFigure, divide(service.throughput, peer.throughput));
  await Promise.all(contestants.map((contestant) => contestant.stop()));
}
