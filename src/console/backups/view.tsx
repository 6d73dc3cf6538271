import { signal } from "@preact/signals";
import { formatBytes } from "../../domain/values/sizes.ts";
import { request } from "../client/api.ts";
import type { BackupFile, Backups, MadeBackup } from "../client/types.ts";
import { showError, showSuccess } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { usePolled, WhenLoaded } from "../parts/loaded.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time, useNow } from "../parts/time.tsx";
import { ViewHead } from "../parts/view.tsx";
import { countOf, formatSeconds } from "../texts/formats.ts";
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

/** When the backup that is being made was started here. It goes on while another page is open. */
const startedAt = signal<number | undefined>(undefined);

async function makeBackup(): Promise<void> {
  startedAt.value = Date.now();
  try {
    const { bytes } = await request<MadeBackup>("/backups", { method: "POST" });
    showSuccess(`Made a backup of ${formatBytes(bytes)}`);
  } catch (error) {
    showError(error);
  } finally {
    startedAt.value = undefined;
  }
}

function MakeBackup({ made }: { readonly made: () => void }) {
  const since = startedAt.value;
  return (
    <div class="row">
      {since !== undefined && <Elapsed since={since} />}
      <Button
        kind="primary"
        isDisabled={since !== undefined}
        onClick={() => makeBackup().then(made)}
      >
        {since === undefined ? "Make a backup now" : "Making a backup…"}
      </Button>
    </div>
  );
}

function Elapsed({ since }: { readonly since: number }) {
  const now = useNow();
  const seconds = Math.floor((now.value - since) / 1_000);
  return (
    <span class="row small muted">
      <span class="spinner" />
      {seconds > 0 && formatSeconds(seconds)}
    </span>
  );
}
