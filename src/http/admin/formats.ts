import { extname } from "node:path";
import { ServiceError } from "../../domain/running/errors.ts";
import { type Format, findFormat, formats } from "../../files/formats.ts";
import { singleValue } from "../api/parameters.ts";

export const formatRule = `Query parameter 'format' must be one of ${formats.join(", ")}.`;

/** The format of a file, by the parameter or by the extension of the file's name. */
export function readFormat(query: URLSearchParams, fileName?: string): Format {
  const given =
    singleValue(query, "format") ??
    extname(fileName ?? "")
      .slice(1)
      .toLowerCase();
  const format = findFormat(given);
  if (format === undefined) throw new ServiceError("invalid_request", formatRule);
  return format;
}
