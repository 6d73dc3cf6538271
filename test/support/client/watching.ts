import {
  type ClientOptions,
  PetstoreClient,
  type Watch,
  type WatchEvent,
} from "../../../client/src/index.ts";
import { positionEvent } from "./scripted-feed.ts";
import { apiKey, type ScriptedServer } from "./scripted-server.ts";

/** A client that does not wait between attempts, except as long as it is told. */
export function createClient(server: ScriptedServer, options: Partial<ClientOptions> = {}) {
  return new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0, ...options });
}

export const heartbeat = (seq: number) => positionEvent("heartbeat", seq);

/** Returns the next events. */
export async function take(watch: Watch, count: number): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  while (events.length < count) {
    const { value, done } = await watch.next();
    if (done) throw new Error("the watch ended");
    events.push(value);
  }
  return events;
}

/** An event as short text: "start 5", "6", "reset 3". */
export function short(event: WatchEvent): string {
  return event.type === "change" ? String(event.change.seq) : `${event.type} ${event.seq}`;
}

export async function takeShort(watch: Watch, count: number): Promise<string[]> {
  return (await take(watch, count)).map(short);
}
