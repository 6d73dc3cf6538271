import { Webhook } from "standardwebhooks";
import { byCommand } from "../../../src/domain/audit/audit.ts";
import { parseNetwork } from "../../../src/domain/values/networks.ts";
import { createWebhook } from "../../../src/domain/webhooks/lifecycle.ts";
import type { WebhookTerms } from "../../../src/domain/webhooks/terms.ts";
import { createWebhookSender } from "../../../src/webhooks/sender.ts";
import { readLedger, seqOfRow, startChanges } from "../feed-trial/changes.ts";
import { boundless, type Fleet, type FleetOptions } from "../instances/fleet.ts";
import { withStoreAt } from "../stocking.ts";
import { until } from "../until.ts";
import { type Arrival, type Endpoint, type ReceiverOptions, startBadReceiver } from "./receiver.ts";

export interface WebhookFigures {
  readonly rows: number;
  readonly webhooks: number;
  readonly requests: number;
  readonly confirmed: number;
  /** Changes that arrived more than once. */
  readonly repeats: number;
  readonly overlapMs: number;
  readonly behaved: Readonly<Record<string, number>>;
  /** What a correct service does not do. */
  readonly wrong: readonly string[];
}

/** Lets the instances send to this machine. */
export const localSending = {
  PETSTORE_WEBHOOKS_ALLOW_INSECURE: "on",
  PETSTORE_WEBHOOKS_ALLOWED_NETWORKS: "127.0.0.0/8",
};

const localSender = createWebhookSender({
  webhooksAllowInsecure: true,
  webhooksAllowedNetworks: [parseNetwork("127.0.0.0/8")!],
});

const script = `${import.meta.dir}/instance.ts`;

/** The options of a fleet whose instances have short times for webhooks. */
export const quickInstances: Pick<FleetOptions, "runOptions"> = {
  runOptions: () => ({ command: [process.execPath, script], env: localSending }),
};

export const webhookTrialPets = [1n, 2n, 9223372036854775807n];

interface Row {
  readonly before: { readonly quantity: number } | null;
  readonly after: { readonly quantity: number } | null;
}

/** The filter of a webhook, and which rows it must get, judged by the text of the row. */
interface Kind {
  readonly terms: Omit<WebhookTerms, "url">;
  wants(row: string): boolean;
}

const kinds: readonly Kind[] = [
  { terms: {}, wants: () => true },
  {
    terms: { pets: ["9223372036854775807"] },
    wants: (row) => row.includes(":9223372036854775807,"),
  },
  { terms: { causes: ["api"] }, wants: (row) => row.includes('"cause":"api"') },
  {
    terms: { below: 50 },
    wants(row) {
      const { before, after } = JSON.parse(row) as Row;
      return before !== null && after !== null && before.quantity >= 50 && after.quantity < 50;
    },
  },
];

/** A request that is still open so much later is not just a close that arrives late. */
const overlapMsMax = 500;
const patienceMs = 30_000;

interface Created {
  readonly kind: Kind;
  readonly endpoint: Endpoint;
  readonly verifier: Webhook;
}

export interface WebhookTrialOptions extends ReceiverOptions {
  readonly databaseUrl: string;
  readonly webhooks: number;
}

/** Webhooks to a bad receiver, while clients change the inventory. */
export async function startWebhookTrial(fleet: Fleet, options: WebhookTrialOptions) {
  const receiver = await startBadReceiver(options);
  const { key } = await fleet.issueKey(...boundless);
  const webhooks = await withStoreAt(options.databaseUrl, async (store) => {
    const created: Created[] = [];
    for (let number = 0; number < options.webhooks; number++) {
      const kind = kinds[number % kinds.length]!;
      const endpoint = receiver.addEndpoint();
      const terms = { ...kind.terms, url: receiver.urlOf(endpoint), from: 1 };
      const { secret } = await createWebhook(store, localSender, terms, byCommand(Date.now()));
      created.push({ kind, endpoint, verifier: new Webhook(secret) });
    }
    return created;
  });
  const changes = startChanges(fleet, [key], webhookTrialPets);

  const lastConfirmed = ({ endpoint }: Created) => {
    const last = endpoint.arrivals.findLast(({ isConfirmed }) => isConfirmed);
    return last ? seqsOf(last).at(-1)! : 0;
  };

  /** Resolves when this row was confirmed by every webhook. */
  const arrived = (seq: number) =>
    until(
      () => webhooks.every((webhook) => lastConfirmed(webhook) === seq),
      patienceMs,
      `row ${seq} is delivered`,
    );

  /** A change that every webhook wants, because requests may have failed by chance where it wants one. */
  async function changeForEveryKind(): Promise<void> {
    for (const quantity of [60, 40]) {
      const body = `{"quantity":${quantity}}`;
      const path = "/inventory/9223372036854775807";
      const isChanged = async () =>
        (await fleet.call(0, "PATCH", path, { key, body })).status === 200;
      await until(isChanged, patienceMs, "a change for every webhook");
    }
  }

  return {
    key,
    receiver,
    changes,
    webhooks,
    arrived,
    /** Ends the changes and the bad behaviour, and waits until everything has arrived. */
    async end(): Promise<void> {
      await changes.end();
      await changeForEveryKind();
      receiver.behave();
      const rows = await readLedger(fleet, key);
      const isComplete = (webhook: Created) =>
        lastConfirmed(webhook) >= seqOfRow(rows.findLast(webhook.kind.wants)!);
      await until(() => webhooks.every(isComplete), patienceMs, "all changes are delivered");
    },
    /** Checks that every webhook got the rows that it wants, at least once and in order. */
    async compareWithLedger(overlapAllowedMs = overlapMsMax): Promise<WebhookFigures> {
      const wrong = [...changes.surprises];
      if (receiver.followed > 0) wrong.push("a redirect was followed");
      const rows = await readLedger(fleet, key);
      for (const webhook of webhooks) {
        const { path, overlapMs } = webhook.endpoint;
        const wanted = rows.filter(webhook.kind.wants);
        wrong.push(...findDisorder(webhook, wanted).map((what) => `${path}: ${what}`));
        if (lastConfirmed(webhook) !== seqOfRow(wanted.at(-1)!))
          wrong.push(`${path}: the last row is not confirmed`);
        if (overlapMs >= overlapAllowedMs)
          wrong.push(`${path}: two requests were open at once for ${Math.round(overlapMs)} ms`);
      }
      return { ...figures(rows.length), wrong };
    },
  };

  function figures(rows: number): Omit<WebhookFigures, "wrong"> {
    const arrivals = webhooks.flatMap(({ endpoint }) => endpoint.arrivals);
    const distinct = webhooks.map(
      ({ endpoint }) => new Set(endpoint.arrivals.flatMap((one) => seqsOf(one))).size,
    );
    const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
    return {
      rows,
      webhooks: webhooks.length,
      requests: arrivals.length,
      confirmed: arrivals.filter(({ isConfirmed }) => isConfirmed).length,
      repeats: sum(arrivals.map((one) => seqsOf(one).length)) - sum(distinct),
      overlapMs: Math.round(Math.max(...webhooks.map(({ endpoint }) => endpoint.overlapMs))),
      behaved: receiver.behaved,
    };
  }
}

/**
 * Without repeated changes, the requests have exactly the wanted rows. No request begins after a
 * row that was not confirmed. Every signature is right.
 */
function findDisorder({ endpoint, verifier }: Created, wanted: readonly string[]): string[] {
  const wrong: string[] = [];
  let seen = 0;
  let confirmed = 0;
  for (const arrival of endpoint.arrivals) {
    try {
      verifier.verify(arrival.body, arrival.headers);
    } catch (error) {
      wrong.push(`a signature is wrong: ${error}`);
    }
    const rows = rowsOf(arrival);
    const at = wanted.indexOf(rows[0]!);
    if (at < 0 || rows.join() !== wanted.slice(at, at + rows.length).join())
      wrong.push(`sent rows that do not follow each other: ${rows}`);
    if (at > confirmed) wrong.push(`sent ${rows[0]} while an earlier row was not confirmed`);
    seen = Math.max(seen, at + rows.length);
    if (arrival.isConfirmed) confirmed = Math.max(confirmed, at + rows.length);
  }
  if (seen < wanted.length || confirmed < wanted.length)
    wrong.push(`got ${seen} of ${wanted.length} rows and confirmed ${confirmed}`);
  return wrong;
}

/** The changes of a message as they were sent. */
export function rowsOf({ body }: Pick<Arrival, "body">): string[] {
  const [, changes] = /"changes":\[(.*)\],"cursor"/.exec(body) ?? [];
  return changes!.split(/,(?=\{"seq":)/);
}

const seqsOf = (arrival: Pick<Arrival, "body">) => rowsOf(arrival).map(seqOfRow);
