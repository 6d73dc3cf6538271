import { formatBytes } from "../../domain/values/sizes.ts";
import type { BackupFile, Backups } from "../client/types.ts";
import { Card } from "../parts/card.tsx";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { countOf } from "../texts/formats.ts";
import { MakeBackup } from "./make-backup.tsx";
import { DrillCard, LastCard, ReplicaCard, ScheduleCard } from "./state-cards.tsx";

const pollMs = 30_000;

/** When backups were made, where they are, and whether one was restored as a test. */
export default function BackupsView() {
  const source = usePolled<Backups>("/backups", pollMs);
  return (
    <>
      <ViewHead title="Backups">
        <MakeBackup made={() => void source.reload()} />
      </ViewHead>
      <WhenLoaded source={source}>
        {(backups) => (
          <div class="stack">
            <div class="grid backup-states">
              <LastCard {...backups} />
              <ScheduleCard {...backups} />
              <DrillCard {...backups} />
              <ReplicaCard {...backups} />
            </div>
            {backups.everySeconds === null && <NoSchedule />}
            <Files {...backups} />
          </div>
        )}
      </WhenLoaded>
    </>
  );
}

function NoSchedule() {
  return (
    <section class="notice warning">
      <p>
        <strong>The service makes no backups by itself.</strong> Start it with a schedule, for
        example every hour:
      </p>
      <p>
        <code>petstore serve --backup-every 1h --backup-folder FOLDER</code>
      </p>
      <p class="small">
        Or set <code>PETSTORE_BACKUP_EVERY</code> and <code>PETSTORE_BACKUP_FOLDER</code>. Choose a
        bucket, <code>s3://bucket/prefix</code>, or a folder on another disk than the store.
      </p>
    </section>
  );
}

function Files({ files, folder }: Backups) {
  return (
    <Card title="Files">
      <p class="small muted backup-folder">
        {files.length === 0 ? "None" : countOf(files.length, "file")} in <bdi>{folder}</bdi>
      </p>
      {files.length === 0 ? (
        <p class="muted">No backup yet. Choose “Make a backup now” to make the first one.</p>
      ) : (
        <Table rows={files} keyOf={({ name }) => name} columns={columns} />
      )}
    </Card>
  );
}

const columns: readonly Column<BackupFile>[] = [
  { title: "File", class: "mono", isMain: true, cell: ({ name }) => <bdi>{name}</bdi> },
  {
    title: "Made",
    cell: ({ createdAt }) => (
      <span>
        <Time at={createdAt} />{" "}
        <span class="muted small">
          <Time at={createdAt} isRelative />
        </span>
      </span>
    ),
  },
  { title: "Size", isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
];
