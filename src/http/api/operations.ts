import type { Scope } from "../../domain/keys.ts";
import { petsDeprecatedAt } from "../../domain/pets.ts";
import type { MaybePromise } from "../../domain/ports.ts";
import type { Answer, Call, Context } from "../call.ts";
import * as inventory from "./contract/inventory.ts";
import type { Contract } from "./contract/operation.ts";
import * as orders from "./contract/orders.ts";
import * as pets from "./contract/pets.ts";
import { listInventory, updateInventory } from "./inventory.ts";
import { listOrders } from "./orders.ts";
import { getPet } from "./pets.ts";

export interface Operation {
  readonly id: string;
  readonly method: "GET" | "PATCH";
  /** Relative to the base address; parameters in braces. */
  readonly path: string;
  readonly scope: Scope;
  /** A stable operation carries no marker. */
  readonly stability: "stable" | "beta" | "experimental";
  /** Set on an operation that is on its way out: since when, in milliseconds since 1970. */
  readonly deprecatedAt?: number;
  /** What it promises, in words and schemas: the part of the API description that is its own. */
  readonly contract: Contract;
  readonly handle: (shop: Context, call: Call) => MaybePromise<Answer>;
}

/** Every operation there is. Routes, 405s, the API description and the tests are made from it. */
export const operations: readonly Operation[] = [
  {
    id: "listInventory",
    method: "GET",
    path: "/inventory",
    scope: "inventory:read",
    stability: "stable",
    contract: inventory.listInventory,
    handle: listInventory,
  },
  {
    id: "updateInventory",
    method: "PATCH",
    path: "/inventory/{petId}",
    scope: "inventory:write",
    stability: "experimental",
    contract: inventory.updateInventory,
    handle: updateInventory,
  },
  {
    id: "getPet",
    method: "GET",
    path: "/pets/{petId}",
    scope: "pets:read",
    stability: "stable",
    deprecatedAt: petsDeprecatedAt,
    contract: pets.getPet,
    handle: getPet,
  },
  {
    id: "listOrders",
    method: "GET",
    path: "/store/orders",
    scope: "orders:read",
    stability: "stable",
    contract: orders.listOrders,
    handle: listOrders,
  },
];
