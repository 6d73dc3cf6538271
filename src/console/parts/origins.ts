import type { WebhookFilterCauses as Cause, LedgerRow } from "../client/types.ts";

interface CauseTexts {
  readonly name: string;
  /** Who or what makes such changes. */
  readonly maker: string;
}

/** The causes of changes, in the order of the service. */
const causes: Readonly<Record<Cause, CauseTexts>> = {
  api: { name: "API", maker: "A client of the API" },
  import: { name: "Import", maker: "An import" },
  undo: { name: "Undo", maker: "An undo" },
  console: { name: "Console", maker: "An operator in the console" },
  count: { name: "Count", maker: "A stocktake" },
};

export const causeChoices = Object.entries(causes);

/** A later version of the service may know further causes. */
export function causeName(cause: string): string {
  return isCause(cause) ? causes[cause].name : cause;
}

export function isCause(text: string): text is Cause {
  return Object.hasOwn(causes, text);
}

/** Who made a change. Commands have no key. */
export function whoOf({ keyName, keyId }: Pick<LedgerRow, "keyName" | "keyId">): string {
  return keyName ?? keyId ?? "Command line";
}
