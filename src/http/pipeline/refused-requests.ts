import { digestOf } from "../../domain/keys/keyring.ts";
import { withoutSecrets } from "../../domain/keys/keys.ts";
import type { RequestRecorder } from "../../domain/requests/recorder.ts";
import type { RejectedRequest } from "../../domain/running/requests.ts";
import { pathOf } from "../messages/paths.ts";
import { keyIn } from "./authentication.ts";

const charactersMax = 500;

/**
 * Passes requests that got an error to the recorder, without what must not be kept. `isRecorded` chooses by
 * the path.
 */
export function recordRefused(
  recorder: Pick<RequestRecorder, "record">,
  isRecorded: (path: string) => boolean,
) {
  return ({ url, body, errorCode: code, headers, ...request }: RejectedRequest): void => {
    const path = pathOf(url);
    if (!isRecorded(path)) return;
    const { requestId, keyId = null, method, status, startedMs, durationMs } = request;
    recorder.record(keyId, code, () => {
      const { message } = JSON.parse(body) as { readonly message: string };
      const userAgent = headers.get("user-agent");
      const secret = code === "unauthorized" ? keyIn({ headers }) : undefined;
      return {
        requestId,
        startedMs,
        digest: secret === undefined ? undefined : digestOf(secret),
        error: {
          method: storable(method),
          path: storable(path),
          status,
          message: storable(message),
          durationMs: Math.round(durationMs),
          userAgent: userAgent === null ? null : storable(userAgent),
        },
      };
    });
  };
}

/** A message can quote names that a client has sent, with characters that a database does not store. */
function storable(text: string): string {
  return withoutSecrets(text.slice(0, charactersMax))
    .replaceAll(/\p{Cc}/gu, "\ufffd")
    .toWellFormed();
}
