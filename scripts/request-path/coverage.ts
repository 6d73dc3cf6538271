import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join, relative } from "node:path";

/** How often each place in a function of src/ ran: `src/main.ts:120` is the file and an offset in it. */
export type Counts = Map<string, number>;

interface FileCoverage {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

interface Range {
  readonly startOffset: number;
  readonly count: number;
}

/** Starts to count in this thread. The returned function returns what ran since its last call. */
export async function startCoverage(): Promise<() => Promise<Counts>> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return async () => {
    const { result } = (await session.post("Profiler.takePreciseCoverage")) as {
      result: readonly FileCoverage[];
    };
    return new Map(result.flatMap(countsOf));
  };
}

function countsOf({ url, functions }: FileCoverage): [string, number][] {
  const file = relative(process.cwd(), url.replace("file://", ""));
  if (!file.startsWith("src/")) return [];
  // The first one is the module itself, which runs when it is loaded.
  return functions
    .slice(1)
    .flatMap(({ ranges }) => ranges)
    .filter(({ count }) => count > 0)
    .map(({ startOffset, count }) => [`${file}:${startOffset}`, count]);
}

/** Where the threads send their counts. A message "take" asks for them. */
export const channelName = "request path";

export type Message = "take" | Counts;

// This file is also loaded into each worker and each process, before the code that they run.
const folder = process.env.REQUEST_PATH_COUNTS;
if (Bun.isMainThread && folder !== undefined) {
  const take = await startCoverage();
  const file = join(folder, `${process.pid}`);
  const write = async () => writeFileSync(file, JSON.stringify([...(await take())]));
  process.once("beforeExit", write);
  const exit = process.exit.bind(process);
  process.exit = ((code) => void write().then(() => exit(code))) as typeof exit;
}
if (!Bun.isMainThread) {
  const take = await startCoverage();
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = async ({ data }: MessageEvent<Message>) => {
    if (data === "take") channel.postMessage(await take());
  };
}
