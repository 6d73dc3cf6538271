import { type PrimaryGuard, timelineNow } from "./primary.ts";
import type { Query } from "./session.ts";

/**
 * Checks which server has sent the rows of a query: behind a pooler, each statement may reach another one.
 * The last column of the first row must be the timeline of the server.
 */
export function checkedRows({ confirm }: PrimaryGuard, query: Query): Query {
  return async (text, values) => {
    const rows = await query(text, values);
    confirm(Number(rows[0]!.at(-1)));
    return rows;
  };
}

/**
 * Adds a row with the timeline of the server to a page of these columns, even to an empty page. The
 * first column is null only in this row. The second must be a number.
 */
export function withTimeline(page: string, columns: string): string {
  const others = columns.split(",").slice(2).fill("NULL");
  return `(${page}) UNION ALL SELECT ${["NULL", timelineNow, ...others].join()}`;
}

/** Like `checkedRows`, for pages that `withTimeline` made. */
export function checkedPages({ confirm }: PrimaryGuard, query: Query): Query {
  return async (text, values) => {
    const rows = await query(text, values);
    const timelineAt = rows.findLastIndex((row) => row[0] === null);
    confirm(Number(rows[timelineAt]![1]));
    return rows.toSpliced(timelineAt, 1);
  };
}
