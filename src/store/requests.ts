import { seqMax } from "../domain/ledger/ledger.ts";
import {
  keptInTotal,
  keptPerCode,
  type RefusedRow,
  type RequestStore,
  withoutKey,
} from "../domain/requests/store.ts";
import type { Row } from "./rows.ts";
import { type Dialect, readAll, readFirst, run, type ScriptsOf } from "./statements.ts";

const select = `SELECT seq, request_id, key_id, after_seq, error, keys.name
  FROM requests LEFT JOIN keys ON keys.id = key_id`;

const toRefusedRow = ([seq, requestId, keyId, afterSeq, error, keyName]: Row): RefusedRow => ({
  seq: Number(seq),
  requestId: requestId as string,
  keyId: keyId === withoutKey ? null : (keyId as string),
  afterSeq: Number(afterSeq),
  error: JSON.parse(error as string),
  keyName: keyName as string | null,
});

export const requestReads: ScriptsOf<RequestStore, "listRequests" | "findRequest"> = {
  listRequests: ({ after = 0, before = seqMax, keyId, code }, rowsMax) =>
    readAll(
      toRefusedRow,
      `${select} WHERE seq > $1::int8 AND seq < $2::int8 AND ($3::text IS NULL OR key_id = $3::text)
         AND ($4::text IS NULL OR code = $4::text)
       ORDER BY seq DESC LIMIT $5::int8`,
      [after, before, keyId ?? null, code ?? null, rowsMax],
    ),
  findRequest: (...values) => readFirst(toRefusedRow, `${select} WHERE request_id = $1`, values),
};

const number = "UPDATE requests_end SET seq = seq + $1::int8 RETURNING seq";
const add = `INSERT INTO requests (seq, request_id, key_id, code, after_seq, error)
  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (request_id) DO NOTHING`;
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
    let seq = Number(end) - requests.length;
    const kinds = new Map<string, readonly string[]>();
    for (const { requestId, keyId, afterSeq, error } of requests) {
      const kind = [keyId ?? withoutKey, error.code];
      yield* run(add, [++seq, requestId, ...kind, afterSeq, JSON.stringify(error)]);
      kinds.set(kind.join(), kind);
    }
    for (const kind of kinds.values()) yield* run(pruneCode, kind);
    yield* run(pruneAll);
  },
  *awaitUpdates() {
    yield* run(dialect.lockLedger);
  },
});
