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
