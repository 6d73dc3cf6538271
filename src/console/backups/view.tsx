import { request } from "../client/api.ts";
import type { BackupFile, Backups } from "../client/types.ts";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";
import { Time } from "../parts/time.tsx";
import { countOf, formatBytes } from "../texts/numbers.ts";
import { MakeBackup } from "./make-backup.tsx";
import { DrillCard, LastCard, ScheduleCard } from "./state-cards.tsx";

const pollMs = 30_000;

/** When backups were made, where they are, and whether one was restored as a test. */
export default function BackupsView() {
  const source = usePolled((signal) => request<Backups>("/backups", { signal }), [], pollMs);
  return (
    <>
      <div class="spread view-head">
        <h1 class="view-title">Backups</h1>
        <MakeBackup made={() => void source.reload()} />
      </div>
      <WhenLoaded source={source}>
        {(backups) => (
          <div class="stack">
            <div class="grid">
              <LastCard {...backups} />
              <ScheduleCard {...backups} />
              <DrillCard {...backups} />
            </div>
            {backups.everySeconds === null && <NoSchedule />}
            <Files files={backups.files} folder={backups.folder} />
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
        folder on another disk than the store, and copy it to another machine.
      </p>
    </section>
  );
}

interface FilesProps {
  readonly files: readonly BackupFile[];
  readonly folder: string | null;
}

function Files({ files, folder }: FilesProps) {
  return (
    <section class="card">
      <h2 class="card-title">Files</h2>
      {folder !== null && (
        <p class="small muted backup-folder">
          {files.length === 0 ? "None" : countOf(files.length, "file")} in <bdi>{folder}</bdi>
        </p>
      )}
      {files.length === 0 ? (
        <p class="muted">No backup yet. Choose “Make a backup now” to make the first one.</p>
      ) : (
        <div class="table-wrap">
          <table class="table card-table">
            <thead>
              <tr>
                <th scope="col">File</th>
                <th scope="col">Made</th>
                <th scope="col" class="number">
                  Size
                </th>
              </tr>
            </thead>
            <tbody>
              {files.map(({ name, bytes, createdAt }) => (
                <tr key={name} data-file={name}>
                  <td class="mono backup-name">
                    <bdi>{name}</bdi>
                  </td>
                  <td data-label="Made">
                    <span>
                      <Time at={createdAt} />{" "}
                      <span class="muted small">
                        <Time at={createdAt} isRelative />
                      </span>
                    </span>
                  </td>
                  <td data-label="Size" class="number">
                    {formatBytes(bytes)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
