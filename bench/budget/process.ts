// Measures the parts of one operation in a process of its own. Reads the job from standard input, and
// prints the costs as JSON.
import { sqlitePath } from "../../src/opening/store-file.ts";
import { type Costs, costsOfRead, type Job, openService } from "./service.ts";
import { costsOfUpdate, costsOfWriter, makeGroups } from "./update.ts";

async function measure(job: Job): Promise<Costs> {
  const opened = new AsyncDisposableStack();
  const service = await openService(job, opened);
  const { keyId } = service.callAt(0).caller;
  const isUpdate = job.kind === "update";
  const costs = await (isUpdate ? costsOfUpdate(service) : costsOfRead(service));
  // Only one connection may write.
  await opened.disposeAsync();
  if (!isUpdate) return costs;
  const path = sqlitePath({ databaseUrl: job.database })!;
  return { ...costs, ...(await costsOfWriter(path, makeGroups(keyId), costs)) };
}

console.log(JSON.stringify(await measure((await Bun.stdin.json()) as Job)));
process.exit(0);
