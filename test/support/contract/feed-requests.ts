import fc from "fast-check";
import { type FuzzedRequest, keyKinds } from "./requests.ts";
import { invalid, mostlyValid, type Part, valid } from "./values.ts";

type TextPart = Part<string | undefined>;

const seq = fc.oneof(fc.nat(20), fc.constantFrom(0, Number.MAX_SAFE_INTEGER)).map(String);
const epoch = fc.oneof(fc.uuid(), fc.stringMatching(/^[0-9A-Za-z][0-9A-Za-z.-]{0,40}$/));

/** A position: a row, or a cursor of any history. One that the store does not know gets a reset. */
const position = mostlyValid<string | undefined>(
  fc.oneof(
    seq.map(valid<string | undefined>),
    fc.tuple(epoch, seq).map(([history, row]) => valid<string | undefined>(`${history}-${row}`)),
  ),
  fc
    .constantFrom(
      ...["x", "-1", "1-", "-", "01", "a-01", "a--", "1.5", "1e3", "+1", "a b-1", "a,b-1"],
      ...["9007199254740992", "a-9007199254740992", "a-99999999999999999", "٣", "a/b-1", "%00-1"],
      `${"a".repeat(200)}-1`,
      "9".repeat(4_000),
    )
    .map(invalid(400)),
);

const absent = fc.constant(valid<string | undefined>(undefined));
/** An empty text counts as absent in the header. */
const lastEventId = fc.oneof(
  absent,
  fc.constant(valid<string | undefined>("")),
  position.filter(({ value }) => /^[!-~ ]*$/.test(value!)),
);
const after = fc.oneof(absent, position, fc.constant(invalid(400)<string | undefined>("")));

const pageParameter: fc.Arbitrary<TextPart> = mostlyValid(
  absent,
  fc.constantFrom("limit=5", "before=9", "until=2026-01-01", "limit=x").map(invalid(400)),
);

const otherParameter: fc.Arbitrary<TextPart> = fc.oneof(
  absent,
  fc
    .constantFrom("cause=api", "key=key_0", "since=2026-01-01", "since=9999-01-01")
    .map(valid<string | undefined>),
  fc
    .constantFrom("cause=x", "key=x", "since=x", "cause=", "since=", "color=blue")
    .map(invalid(400)),
);

const streams = fc.constantFrom(
  "text/event-stream",
  " Text/Event-Stream ;q=0.001",
  "text/event-stream, application/json;q=0.9",
  "*/*, application/json;q=0, text/event-stream;charset=utf-8",
);

/** A request for the feed. */
const forStream: fc.Arbitrary<FuzzedRequest> = fc
  .record({
    key: keyKinds,
    accept: streams,
    lastEventId,
    after,
    page: pageParameter,
    other: otherParameter,
    head: fc.boolean(),
  })
  .map(({ key, accept, lastEventId: id, after: from, page, other, head }) => {
    // The header replaces the parameter, also one that is invalid.
    const start = id.value ? [id] : [from];
    const query = [
      from.value === undefined ? undefined : `after=${encodeURIComponent(from.value)}`,
      page.value,
      other.value,
    ].filter((text) => text !== undefined);
    return {
      method: head ? "HEAD" : "GET",
      path: `/changes${query.length > 0 ? `?${query.join("&")}` : ""}`,
      headers: {
        Accept: accept,
        ...(id.value === undefined ? {} : { "Last-Event-ID": id.value }),
      },
      body: undefined,
      key: key.value,
      faults: [key, ...start, page, other].flatMap((part) => part.faults),
      possible: [],
      namesKnownPet: true,
    };
  });

/** A request with an `Accept` that no client should send. It gets a page. */
const withAnyAccept: fc.Arbitrary<FuzzedRequest> = fc
  .oneof(
    fc.stringMatching(/^[!-~ ]{1,60}$/),
    fc.constantFrom(
      ...["text/event-stream;q=0", "text/event-stream;q=2", "text/event-stream;q=x", "text/*"],
      ...["application/json, text/event-stream", ",;,=;q", "text/event-stream;q=", "text/html"],
      Array(1_000).fill("a/b;q=0.1").join(),
    ),
  )
  .map((accept) => ({
    method: "GET",
    path: "/changes?limit=1",
    headers: { Accept: accept },
    body: undefined,
    key: "good" as const,
    faults: [],
    possible: [],
    namesKnownPet: true,
  }));

export const feedRequest: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  { arbitrary: forStream, weight: 3 },
  { arbitrary: withAnyAccept, weight: 1 },
);
