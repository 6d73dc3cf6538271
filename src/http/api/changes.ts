import type { Entry } from "../../domain/inventory.ts";
import { applyChanges as storeChanges } from "../../domain/shop.ts";
import { readJsonText } from "../body.ts";
import type { Call, Context, Reply } from "../operation.ts";
import { canonicalText, parseChanges } from "./change-list.ts";
import { replayedHeaders } from "./entries.ts";
import { identifyRequest } from "./idempotency.ts";

export async function applyChanges(context: Context, call: Call): Promise<Reply> {
  const { requestId, request, caller, operation } = call;
  const { headers, signal } = request;
  const key = headers.get("idempotency-key");
  const changes = parseChanges(await readJsonText(request, operation));
  const idempotency =
    key === null ? undefined : identifyRequest(call, key, operation.path, canonicalText(changes));
  const write = { requestId, signal, idempotency };
  const { entries, isReplayed } = await storeChanges(context, caller, changes, write);
  const body = `{"entries":[${entries.map(versionedJson).join()}]}`;
  return isReplayed ? { status: 200, body, headers: replayedHeaders } : { status: 200, body };
}

function versionedJson({ petId, quantity, status, version }: Entry): string {
  return `{"petId":${petId},"quantity":${quantity},"status":"${status}","version":${version}}`;
}
