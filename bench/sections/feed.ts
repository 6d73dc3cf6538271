// The feed of changes: many listeners, the delay of their events, and the cost for updates.
import type { Bench } from "../bench.ts";
import { measureDelivery, measureFeedTurns } from "../feed-delivery.ts";
import { measureUpdates } from "../feed-updates.ts";
import { startPostgres } from "../postgres.ts";

export async function feed(bench: Bench): Promise<void> {
  const newFile = async () => undefined;
  await measureUpdates(bench, "SQLite", newFile, { 64: "feedPatch64", 256: "feedPatch256" });
  await measureDelivery(bench, "SQLite", newFile, "feedDelay");
  await measureFeedTurns(bench);
  const server = await startPostgres(bench.directory);
  try {
    let databases = 0;
    const newDatabase = () => server.create(`feed_${databases++}`);
    await measureUpdates(bench, "PostgreSQL", newDatabase, {
      64: "feedPatch64Postgres",
      256: "feedPatch256Postgres",
    });
    await measureDelivery(bench, "PostgreSQL", newDatabase, "feedDelayPostgres");
  } finally {
    await server.stop();
  }
}
