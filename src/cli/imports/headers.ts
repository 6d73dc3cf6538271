import { ServiceError } from "../../domain/running/errors.ts";
import { type HeaderMap, ignored } from "../../files/table.ts";

/** Reads `HEADER=FIELD` from the values of --map. A header can contain `=`, and a field cannot. */
export function parseMap(values: readonly string[], fields: readonly string[]): HeaderMap {
  return new Map(
    values.map((value) => {
      const [, header = "", field = ""] = /^(.+)=(.*)$/su.exec(value) ?? [];
      if (field === ignored || fields.includes(field)) return [header, field];
      const rule = `must be HEADER=FIELD, with a field of ${fields.join(", ")} or ${ignored}`;
      throw new ServiceError("invalid_request", `--map ${rule}, not '${value}'`);
    }),
  );
}
