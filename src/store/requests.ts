import { seqMax } from "../domain/ledger/ledger.ts";
import {
  keptInTotal,
  keptPerCode,
  type RefusedRow,
  type RequestStore,
  withoutKey,
} from "../domain/requests/store.ts";
import type { ErrorCode } from "../domain/running/errors.ts";
import type { Row } from "./rows.ts";
import { type Dialect, readAll, readFirst, run, type ScriptsOf } from "./statements.ts";

/** Without a key, the column is empty. */
const noKey = "";

const select = `SELECT seq, request_id, key_id, at, method, path, status, code, message, duration_ms,
    user_agent, after_seq, keys.name
  FROM requests LEFT JOIN keys ON keys.id = key_id`;

function toRefusedRow(row: Row): RefusedRow {
  const [seq, requestId, keyId, at, method, path, status, code, message] = row;
  return {
    seq: Number(seq),
    requestId: requestId as string,
    keyId: keyId === noKey ? null : (keyId as string),
    at: Number(at),
    method: method as string,
    path: path as string,
    status: Number(status),
    code: code as ErrorCode,
    message: message as string,
    durationMs: Number(row[9]),
    userAgent: row[10] as string | null,
    afterSeq: Number(row[11]),
    keyName: row[12] as string | null,
  };
}

export const requestReads: ScriptsOf<RequestStore, "listRequests" | "findRequest"> = {
  listRequests({ after = 0, before = seqMax, keyId, code }, rowsMax) {
    const key = keyId === withoutKey ? noKey : (keyId ?? null);
    return readAll(
      toRefusedRow,
      `${select} WHERE seq > $1::int8 AND seq < $2::int8 AND ($3::text IS NULL OR key_id = $3::text)
         AND ($4::text IS NULL OR code = $4::text)
       ORDER BY seq DESC LIMIT $5::int8`,
      [after, before, key, code ?? null, rowsMax],
    );
  },
  findRequest: (requestId) =>
    readFirst(toRefusedRow, `${select} WHERE request_id = $1`, [requestId]),
};

const number = "UPDATE requests_end SET seq = seq + $1::int8 RETURNING seq";
const add = `INSERT INTO requests (seq, request_id, key_id, at, method, path, status, code, message,
    duration_ms, user_agent, after_seq)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (request_id) DO NOTHING`;
const pruneCode = `DELETE FROM requests WHERE key_id = $1 AND code = $2 AND seq <= (
  SELECT seq FROM requests WHERE key_id = $1 AND code = $2
  ORDER BY seq DESC LIMIT 1 OFFSET ${keptPerCode})`;
const pruneAll = `DELETE FROM requests WHERE seq <= (
  SELECT seq FROM requests ORDER BY seq DESC LIMIT 1 OFFSET ${keptInTotal})`;

/** Each is one transaction. */
export const requestWrites = (
  dialect: Dialect,
): ScriptsOf<RequestStore, "addRequests" | "awaitUpdates"> => ({
  *addRequests(requests) {
    const [[end] = []] = yield* run(number, [requests.length]);
    const first = Number(end) - requests.length + 1;
    const kinds = new Map<string, readonly [keyId: string, code: string]>();
    for (const [index, request] of requests.entries()) {
      const { requestId, at, method, path, status, code, message, durationMs } = request;
      const keyId = request.keyId ?? noKey;
      const values = [requestId, keyId, at, method, path, status, code, message, durationMs];
      yield* run(add, [first + index, ...values, request.userAgent, request.afterSeq]);
      kinds.set(`${keyId} ${code}`, [keyId, code]);
    }
    for (const kind of kinds.values()) yield* run(pruneCode, kind);
    yield* run(pruneAll);
  },
  *awaitUpdates() {
    yield* run(dialect.lockLedger);
  },
});
