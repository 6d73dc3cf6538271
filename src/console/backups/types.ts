/** When a task last ran. */
export interface TaskRuns {
  readonly startedAt: string | null;
  readonly succeededAt: string | null;
  readonly failedAt: string | null;
  /** Why the last failed run failed. */
  readonly error: string | null;
}

export interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  readonly createdAt: string;
}

export interface Backups {
  readonly folder: string | null;
  /** Null if the service makes no backups by itself. */
  readonly everySeconds: number | null;
  readonly keep: number;
  readonly last: TaskRuns | null;
  readonly drill: TaskRuns | null;
  /** The newest first. */
  readonly files: readonly BackupFile[];
}

export interface MadeBackup extends BackupFile {
  readonly seq: number;
}
