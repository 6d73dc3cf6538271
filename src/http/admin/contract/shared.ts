import type { HeaderId } from "../../api/contract/headers.ts";
import type { Contract, Success } from "../../api/contract/operation.ts";
import type { AdminContract } from "./operation.ts";

/** Headers that the API sends and the operator API does not: nothing of it may be stored. */
const replaced: readonly HeaderId[] = ["CacheCurrent", "CacheChanges", "CacheList"];

/** The contract of an operation of the API, for the operator API, where other headers are common. */
export function sharedContract(
  { success, ...contract }: Contract,
  tag: AdminContract["tag"],
): AdminContract {
  const statuses = Object.entries(success).map(([status, one]): [string, Success] => [
    status,
    { ...one, headers: one.headers?.filter((header) => !replaced.includes(header)) ?? [] },
  ]);
  return { ...contract, tag, success: Object.fromEntries(statuses) };
}
