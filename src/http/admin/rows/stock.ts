import { getLedgerHead, listChanges, listHistory } from "../../api/history.ts";
import { getDiff, getSnapshot } from "../../api/snapshots.ts";
import { jsonTypes, mergePatchTypes } from "../../messages/body.ts";
import { applyChanges, undoChange } from "../changes.ts";
import * as changes from "../contract/changes.ts";
import * as pets from "../contract/pets.ts";
import * as stock from "../contract/stock.ts";
import * as usage from "../contract/usage.ts";
import type { AdminRow, AdminSettings } from "../operation.ts";
import { listPetNames } from "../pet-names.ts";
import { changePet, createPet, getPet, removePet } from "../pets.ts";
import { listStock, updateStock } from "../stock.ts";
import { getKeyUsage, getUsage } from "../usage.ts";

/** The stock and its ledger, pets, and the usage of keys. Several handlers are those of the API. */
export function stockRows({ bodyBytesMax, changesBytesMax }: AdminSettings): readonly AdminRow[] {
  const json = { mediaTypes: jsonTypes, bytesMax: bodyBytesMax };
  const mergePatch = { mediaTypes: mergePatchTypes, bytesMax: bodyBytesMax };
  return [
    {
      id: "listStock",
      method: "GET",
      path: "/stock",
      contract: stock.listStock,
      handle: listStock,
    },
    {
      id: "updateStock",
      method: "PATCH",
      path: "/stock/{petId}",
      body: mergePatch,
      contract: stock.updateStock,
      handle: updateStock,
    },
    {
      id: "listStockHistory",
      method: "GET",
      path: "/stock/{petId}/history",
      contract: stock.listStockHistory,
      handle: listHistory.handle,
    },
    {
      id: "listChanges",
      method: "GET",
      path: "/changes",
      contract: changes.listChanges,
      handle: listChanges.handle,
    },
    {
      id: "applyChanges",
      method: "POST",
      path: "/changes",
      body: { mediaTypes: jsonTypes, bytesMax: changesBytesMax },
      contract: changes.applyChanges,
      handle: applyChanges,
    },
    {
      id: "getLedgerHead",
      method: "GET",
      path: "/changes/head",
      contract: changes.getLedgerHead,
      handle: getLedgerHead.handle,
    },
    {
      id: "undoChange",
      method: "POST",
      path: "/changes/{seq}/undo",
      body: json,
      contract: changes.undoChange,
      handle: undoChange,
    },
    {
      id: "getSnapshot",
      method: "GET",
      path: "/snapshots/{moment}",
      contract: changes.getSnapshot,
      handle: getSnapshot.handle,
    },
    {
      id: "getDiff",
      method: "GET",
      path: "/snapshots/{moment}/diff",
      contract: changes.getDiff,
      handle: getDiff.handle,
    },
    {
      id: "listPetNames",
      method: "GET",
      path: "/pets",
      contract: pets.listPetNames,
      handle: listPetNames,
    },
    {
      id: "createPet",
      method: "POST",
      path: "/pets",
      body: json,
      contract: pets.createPet,
      handle: createPet,
    },
    {
      id: "getPet",
      method: "GET",
      path: "/pets/{petId}",
      contract: pets.getPet,
      handle: getPet,
    },
    {
      id: "changePet",
      method: "PATCH",
      path: "/pets/{petId}",
      body: mergePatch,
      contract: pets.changePet,
      handle: changePet,
    },
    {
      id: "removePet",
      method: "DELETE",
      path: "/pets/{petId}",
      contract: pets.removePet,
      handle: removePet,
    },
    {
      id: "getKeyUsage",
      method: "GET",
      path: "/keys/{keyId}/usage",
      contract: usage.getKeyUsage,
      handle: getKeyUsage,
    },
    {
      id: "getUsage",
      method: "GET",
      path: "/usage",
      contract: usage.getUsage,
      handle: getUsage,
    },
  ];
}
