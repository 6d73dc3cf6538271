import { expect } from "bun:test";
import { Webhook } from "standardwebhooks";
import { startExample } from "../example-process.ts";

const largestId = 9223372036854775807n;
const [secret, newSecret] = ["first", "second"].map((text) => `whsec_${btoa(text.repeat(6))}`) as [
  string,
  string,
];

const row = (seq: number) =>
  `{"seq":${seq},"petId":${largestId},"before":null,"after":{"quantity":${seq},"status":"sold"},"cause":"api","keyId":null,"keyName":null,"reason":"3 °C","requestId":null,"at":"2026-11-15T10:00:00.000Z"}`;

const bodyOf = (...seqs: number[]) =>
  `{"type":"inventory.changed","timestamp":"2026-11-15T10:00:00.000Z","data":{"changes":[${seqs.map(row)}],"cursor":"a-9"}}`;

/** Sends a receiver of examples/ messages that are valid, repeated, forged and too long. */
export async function tryReceiver(command: readonly string[], seqFile: string): Promise<void> {
  {
    await using receiver = await startReceiver(command, seqFile, secret);
    const { deliver, lineWith } = receiver;
    expect(await deliver(bodyOf(1, 2))).toBe(204);
    expect(await deliver(bodyOf(1, 2, 3))).toBe(204);
    for (const seq of [1, 2, 3]) {
      expect(await lineWith("change")).toBe(`change ${seq}: pet ${largestId}, ${seq}`);
    }
    expect(await deliver(bodyOf(4), { signedBody: bodyOf(5) })).toBe(400);
    expect(await deliver(bodyOf(4), { signer: newSecret })).toBe(400);
    expect(await deliver(bodyOf(4), { at: new Date(Date.now() - 400_000) })).toBe(400);
    expect(await deliver(bodyOf(4), { signature: "v1" })).toBe(400);
    expect(await deliver("x".repeat(100_001))).toBe(413);
  }
  await using receiver = await startReceiver(command, seqFile, `${secret},${newSecret}`);
  expect(await receiver.deliver(bodyOf(3))).toBe(204);
  expect(await receiver.deliver(bodyOf(3, 4), { signer: newSecret })).toBe(204);
  expect(await receiver.lineWith("change")).toBe(`change 4: pet ${largestId}, 4`);
}

async function startReceiver(command: readonly string[], seqFile: string, secrets: string) {
  const env = { PORT: "0", SEQ_FILE: seqFile, WEBHOOK_SECRETS: secrets };
  const receiver = startExample(command, env);
  const url = (await receiver.lineWith("listening on ")).replace("listening on ", "");
  return {
    ...receiver,
    async deliver(
      body: string,
      { signedBody = body, signer = secret, at = new Date(), signature = "" } = {},
    ): Promise<number> {
      const headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
        "webhook-signature": signature || new Webhook(signer).sign("msg_1", at, signedBody),
      };
      return (await fetch(url, { method: "POST", headers, body })).status;
    },
  };
}
