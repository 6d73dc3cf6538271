import type { Caller } from "../domain/keys.ts";
import type { Head } from "../domain/ports.ts";
import type { Shop } from "../domain/shop.ts";
import type { Sheet } from "./headers.ts";
import type { Sender, SentBody } from "./list/body.ts";
import type { Codings } from "./list/encodings.ts";
import type { Listing } from "./list/list.ts";

/** What operations use: the shop, and the list as it is sent. */
export interface Context extends Shop {
  readonly listing: Listing;
  readonly codings: Codings;
  readonly sender: Sender;
  readonly petsSunsetAt: number;
  readonly bodyBytesMax: number;
}

/** A request as the HTTP server's router hands it over, with the parameters of its path. */
export type IncomingRequest = Request & { readonly params?: Readonly<Record<string, string>> };

/** One admitted request on its way to an operation. */
export interface Call {
  readonly request: IncomingRequest;
  readonly requestId: string;
  readonly caller: Caller;
  /** The store's head as looked up for this request, where the engine gives it for free. */
  readonly head: Head | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: string | SentBody | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** All of the answer's own headers made ready, for those that repeat; `headers` is then unused. */
  readonly sheet?: Sheet;
}
