import type { Scope } from "../../domain/keys/keys.ts";
import { type BodyRule, jsonTypes, mergePatchTypes } from "../messages/requests.ts";
import type { Operation } from "../pipeline/operation.ts";
import type { Contract } from "./contract/contract.ts";

export interface ApiOperation extends Operation {
  readonly scope: Scope;
  readonly tag: "Inventory" | "History" | "Pets" | "Orders";
  /** Its part of the API description. */
  readonly contract: Contract;
}

/** What operations take from the settings of the service. */
export interface ApiSettings {
  readonly petsSunsetAt: number;
  readonly bodyBytesMax: number;
  readonly changesBytesMax: number;
}

/** An operation as its file declares it. Its id is its name there, and it refers to settings by name. */
export interface Declaration
  extends Omit<ApiOperation, "id" | "tag" | "body" | "deprecation" | "known"> {
  readonly body?: DeclaredBody;
  readonly deprecation?: { readonly since: number; readonly sunsetAt: "petsSunsetAt" };
}

export interface DeclaredBody extends Omit<BodyRule, "bytesMax"> {
  readonly bytesMax: "bodyBytesMax" | "changesBytesMax";
}

export const jsonBody: DeclaredBody = { mediaTypes: jsonTypes, bytesMax: "bodyBytesMax" };
export const mergePatchBody: DeclaredBody = { ...jsonBody, mediaTypes: mergePatchTypes };

/** The rule for the body, if the operation reads one. */
export function bodyRule(
  body: DeclaredBody | undefined,
  settings: Pick<ApiSettings, DeclaredBody["bytesMax"]>,
): Pick<Operation, "body"> {
  return body ? { body: { ...body, bytesMax: settings[body.bytesMax] } } : {};
}
