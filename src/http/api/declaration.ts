import type { Scope } from "../../domain/keys/keys.ts";
import { type BodyRule, jsonTypes, mergePatchTypes } from "../messages/requests.ts";
import type { Change, Operation } from "../pipeline/operation.ts";
import type { Contract } from "./contract/contract.ts";
import type { ReadPage } from "./list-pages.ts";

export interface ApiOperation extends Operation {
  readonly scope: Scope;
  readonly tag: "Inventory" | "History" | "Pets" | "Orders";
  /** Its part of the API description. */
  readonly contract: Contract;
  /** Reads a page of its list for an assistant. */
  readonly readPage?: ReadPage;
}

/** What operations take from the settings of the service. */
export interface ApiSettings {
  readonly petsSunsetAt: number;
  readonly bodyBytesMax: number;
  readonly changesBytesMax: number;
}

/**
 * An operation as its file declares it. Its id is its name there, and it refers to settings by name. What
 * only reads handles its requests. What changes something gets fields from its gate.
 */
export type Declaration = Declared & (Reading | Changing | StockUpdate);
export type ReadDeclaration = Declared & Reading;

interface Declared
  extends Omit<
    ApiOperation,
    "id" | "tag" | "body" | "deprecation" | "known" | "method" | "handle"
  > {
  readonly body?: DeclaredBody;
  readonly deprecation?: { readonly since: number; readonly sunsetAt: "petsSunsetAt" };
}

export interface Reading extends Pick<Operation, "handle"> {
  readonly method: "GET";
}

export interface Changing extends Change {
  readonly method: Exclude<Operation["method"], "GET">;
}

/** The update of the specification. It keeps the rules of its kind by itself, and costs less. */
interface StockUpdate extends Pick<Operation, "handle">, Pick<Change, "kind"> {
  readonly method: "PATCH";
  readonly path: "/inventory/{petId}";
}

export interface DeclaredBody extends Omit<BodyRule, "bytesMax"> {
  readonly bytesMax: "bodyBytesMax" | "changesBytesMax";
}

export const jsonBody: DeclaredBody = { mediaTypes: jsonTypes, bytesMax: "bodyBytesMax" };
export const mergePatchBody: DeclaredBody = { ...jsonBody, mediaTypes: mergePatchTypes };

/** The rule for the body, if the operation reads one. */
export function bodyRule(
  { body, contract }: { readonly body?: DeclaredBody | undefined; readonly contract: Contract },
  settings: Pick<ApiSettings, DeclaredBody["bytesMax"]>,
): Pick<Operation, "body"> {
  if (!body) return {};
  const { isOptional } = contract.body ?? {};
  const rule = { ...body, bytesMax: settings[body.bytesMax] };
  return { body: isOptional ? { ...rule, isOptional } : rule };
}
