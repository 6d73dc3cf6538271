import { listBackups, makeBackup } from "../backups.ts";
import * as contract from "../contract/backups.ts";
import type { AdminRow } from "../operation.ts";

export const backupRows: readonly AdminRow[] = [
  {
    id: "listBackups",
    method: "GET",
    path: "/backups",
    contract: contract.listBackups,
    handle: listBackups,
  },
  {
    id: "makeBackup",
    method: "POST",
    path: "/backups",
    contract: contract.makeBackup,
    handle: makeBackup,
  },
];
