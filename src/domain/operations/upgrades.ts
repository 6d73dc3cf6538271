/** A version of a store's schema, and the first release that uses it. */
export interface Schema {
  readonly version: number;
  readonly release: string;
}

/** A migration that was made when a store was opened. */
export interface Migration {
  readonly from: Schema;
  readonly to: Schema;
  readonly durationMs: number;
  /** The copy of the store from before. A database server has none. */
  readonly backup?: MigrationBackup;
}

export interface MigrationBackup {
  readonly file: string;
  readonly bytes: number;
  readonly durationMs: number;
}

/** A step that a start would apply. */
export interface PendingStep extends Schema {
  /** What the step does, in a sentence. */
  readonly summary: string;
  /** The oldest release whose instances keep running. Null if an older one must be stopped. */
  readonly fitsRelease: string | null;
}

/** What a start would migrate. */
export interface UpgradePlan {
  readonly store: Schema;
  readonly current: Schema;
  readonly steps: readonly PendingStep[];
  /** The room for the backup that a start makes before it migrates a file. */
  readonly room?: {
    readonly folder: string;
    readonly neededBytes: number;
    readonly freeBytes: number;
  };
}

/** A migration of a copy of the store, which was removed afterwards. */
export interface UpgradeTrial {
  readonly copyMs: number;
  readonly migrateMs: number;
  readonly verifyMs: number;
  /** Rows of the ledger in the copy. */
  readonly rows: number;
  /** The first faults of the migrated copy, one line each. */
  readonly faults: readonly string[];
  readonly faultCount: number;
}

/** Tells what an upgrade would do, without changing the store. */
export interface UpgradeCheck {
  readonly plan: UpgradePlan;
  /** Migrates a copy and verifies it. */
  tryOnCopy(): Promise<UpgradeTrial>;
}
