import { createChecker, type SeenResponse } from "./checker.ts";
import { adminContract, apiContract } from "./document.ts";

const api = createChecker(apiContract);
/** Made when it is first used: most tests do not use the operator API. */
let admin: ReturnType<typeof createChecker> | undefined;

export const { validator, bodyPointer, faultsInEvents } = api;

/** The checker of the API. */
export function apiChecker(): ReturnType<typeof createChecker> {
  return api;
}

/** The checker of the operator API. */
export function adminChecker(): ReturnType<typeof createChecker> {
  admin ??= createChecker(adminContract);
  return admin;
}

/** Throws an error that lists every deviation. Paths outside both APIs have no contract. */
export function checkAgainstContract(answer: SeenResponse): void {
  const { method, pathname, status, text } = answer;
  const contract = [apiContract, adminContract].find(({ basePath }) =>
    `${pathname}/`.startsWith(`${basePath}/`),
  );
  if (!contract || pathname === `${contract.basePath}/openapi.json`) return;
  const checker = contract === apiContract ? api : adminChecker();
  const faults = [...checker.faultsOf(answer)];
  if (faults.length === 0) return;
  throw new Error(
    `${method} ${pathname} returned ${status} against ${contract.file}:\n  ${faults.join("\n  ")}\n${text.slice(0, 500)}`,
  );
}
