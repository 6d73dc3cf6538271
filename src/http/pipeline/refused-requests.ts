import { digestOf } from "../../domain/keys/keyring.ts";
import type { RequestRecorder } from "../../domain/requests/recorder.ts";
import { withoutKeys } from "../../domain/values/hiding.ts";
import { pathOf } from "../messages/paths.ts";
import { keyIn } from "./authentication.ts";
import type { RejectedRequest } from "./observe.ts";

const charactersMax = 500;

/** Errors of the assistants' protocol have their message one level deeper. */
interface ErrorBody {
  readonly message?: string;
  readonly error?: { readonly message: string };
}

/**
 * Passes requests that got an error to the recorder, without what must not be kept. Those below `except` are
 * left out: the console shows its errors by itself.
 */
export function recordRefused(recorder: Pick<RequestRecorder, "record">, except: string) {
  return ({ url, body, errorCode: code, headers, ...request }: RejectedRequest): void => {
    const path = pathOf(url);
    if (path.startsWith(except)) return;
    const { requestId, keyId = null, method, status, startedMs, durationMs } = request;
    recorder.record(keyId, code, () => {
      const { error: fault, message = fault!.message }: ErrorBody = JSON.parse(body);
      const [userAgent, secret] = [headers.get("user-agent"), keyIn({ headers })];
      // A client that encodes the question mark sends its query as a part of the path.
      const shown = path.replace(/%(?:25)*3F.*/i, "%3F…");
      const sent = { method: storable(method), path: storable(shown) };
      const got = { status, code, message: storable(message) };
      const agent = userAgent === null ? null : storable(userAgent);
      const digest = code === "unauthorized" && secret ? digestOf(secret) : undefined;
      const error = { ...sent, ...got, durationMs: Math.round(durationMs), userAgent: agent };
      return { requestId, startedMs, digest, error };
    });
  };
}

/** A message can quote names that a client has sent. A word that is cut could be a part of a key. */
function storable(text: string): string {
  const isLong = text.length > charactersMax;
  const sent = isLong ? text.slice(0, charactersMax).replace(/[^/\s]*$/, "…") : text;
  return withoutKeys(sent).toWellFormed();
}
