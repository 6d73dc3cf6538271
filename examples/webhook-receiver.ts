/**
 * Receives the messages of a webhook. It accepts a message only if its signature is valid, and handles
 * each change once: the service repeats a message until it gets a 2xx response, so a change can come
 * again.
 *
 * Environment: `WEBHOOK_SECRETS`, one secret, or two with a comma during a rotation; `PORT`; and
 * `SEQ_FILE`, where it stores the number of the last change. A program with a database stores this
 * number in the transaction in which it handles the change.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import {
  isWebhookVerificationError,
  type LedgerRow,
  verifyWebhook,
} from "petstore-inventory-client";

const secrets = (process.env.WEBHOOK_SECRETS ?? "").split(",");
if (secrets[0] === "") throw new Error("Set WEBHOOK_SECRETS to the secret of the webhook: whsec_…");
const file = process.env.SEQ_FILE ?? "webhook-seq";
/** The service sends at most 20 kB. */
const bodyBytesMax = 100_000;
let lastSeq = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;

/** Renaming is atomic, so a crash leaves the old number or the new one. */
function store(seq: number): void {
  writeFileSync(`${file}.new`, String(seq), { flush: true });
  renameSync(`${file}.new`, file);
  lastSeq = seq;
}

function handle({ seq, petId, after }: LedgerRow): void {
  console.log(`change ${seq}: pet ${petId}, ${after === null ? "removed" : after.quantity}`);
}

/** Returns the status of the response. The service sends the message again unless it is 2xx. */
async function receive(request: IncomingMessage): Promise<number> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > bodyBytesMax) return 413;
    chunks.push(chunk);
  }
  const { data } = await verifyWebhook(request.headers, Buffer.concat(chunks), secrets);
  for (const change of data.changes) {
    if (change.seq <= lastSeq) continue;
    handle(change);
    store(change.seq);
  }
  return 204;
}

const server = createServer((request, response) => {
  receive(request)
    .catch((error) => {
      console.error(isWebhookVerificationError(error) ? `rejected: ${error.message}` : error);
      return isWebhookVerificationError(error) ? 400 : 500;
    })
    .then((status) => response.writeHead(status).end());
});
server.listen(Number(process.env.PORT ?? 9000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
