import fc from "fast-check";
import type { DocumentedSchema } from "./document.ts";
import {
  extras,
  invalid,
  knownPets,
  notAnObject,
  type Part,
  resolve,
  valid,
  writtenInteger,
  wrongValue,
} from "./values.ts";

/** A batch: valid, with an unknown pet or an impossible change, malformed, or too large. */
export function batchOf({ items }: DocumentedSchema): fc.Arbitrary<Part<string>> {
  const { petId, quantity, delta } = resolve(items!).properties!;
  const change = (id: fc.Arbitrary<unknown>, field: string, value: fc.Arbitrary<unknown>) =>
    fc
      .tuple(id, value, extras, fc.constantFrom("", ',"reason":"counted"', ',"reason":""'))
      .map(([pet, amount, rest, reason]) => {
        const others = JSON.stringify(rest).slice(1, -1);
        return `{${others}${others && ","}"petId":${pet},"${field}":${amount}${reason}}`;
      });
  const known = fc.constantFrom(...knownPets);
  const good = fc.oneof(
    change(known, "quantity", writtenInteger(quantity!)),
    change(known, "delta", fc.constantFrom("0", "0.0", "-0e9")),
  );
  const bad = fc.oneof(
    change(known, "quantity", wrongValue(quantity!)),
    change(known, "delta", wrongValue(delta!)),
    change(wrongValue(petId!), "delta", fc.constant(0)),
    change(known, "both", fc.constant('0,"delta":0,"quantity":0')),
    change(known, "neither", fc.constant(0)),
    change(known, "delta", fc.constant('0,"expectedVersion":0')),
    fc.constant('{"petId":1,"delta":0,"reason":"\\u0007"}'),
    notAnObject.map((value) => JSON.stringify(value)),
  );
  const unknown = fc.bigInt({ min: 100n, max: 2n ** 52n });
  const absent = change(unknown, "delta", fc.constant(0)).map(invalid(404));
  const lowest = fc.constant(-Number.MAX_SAFE_INTEGER);
  const conflict = fc.oneof(
    // Sets 0 and then takes from it, because an earlier request may have stored anything.
    change(known, "delta", lowest).map(
      (low) => `${low.replace(/"delta":-\d+/, '"quantity":0')},${low}`,
    ),
    change(known, "delta", fc.constant('0,"expectedVersion":9007199254740991')),
  );
  const batch = (changes: readonly string[]) => `{"changes":[${changes.join()}]}`;
  const goods = fc.array(good, { minLength: 1, maxLength: 5 });
  const withOne = (one: fc.Arbitrary<Part<string>>) =>
    fc.tuple(goods, one).map(([before, { value, faults }]) => ({
      value: batch([...before, value]),
      faults,
    }));
  const malformed = fc.constantFrom("", "{", "[]", "{}", '{"changes":[]}', '{"changes":{}}');
  return fc.oneof(
    { arbitrary: goods.map(batch).map(valid), weight: 10 },
    { arbitrary: withOne(bad.map(invalid(400))), weight: 6 },
    { arbitrary: withOne(absent), weight: 2 },
    { arbitrary: withOne(conflict.map(invalid(409))), weight: 2 },
    { arbitrary: malformed.map(invalid(400)), weight: 2 },
    { arbitrary: goods.map((some) => batch(some).padEnd(262_145)).map(invalid(413)), weight: 1 },
  );
}
