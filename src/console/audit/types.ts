/** A row of the audit log. */
export interface AuditRow {
  readonly seq: number;
  readonly at: string;
  /** Null for a command. */
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly requestId: string | null;
  readonly action: string;
  readonly target: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}
