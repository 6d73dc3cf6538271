import { expect } from "bun:test";
import type { TestResponse, TestService } from "./service.ts";

/** Pages of changes as the API returns them. Ids of pets are not exact here. */

/** A change. */
export interface Row {
  readonly seq: number;
  readonly before: { readonly quantity: number } | null;
  readonly after: { readonly quantity: number } | null;
  readonly at: string;
}

export const rowsOf = (response: TestResponse) => response.json as readonly Row[];
export const seqsOf = (response: TestResponse) => rowsOf(response).map(({ seq }) => seq);

export function nextOf(response: TestResponse): string | undefined {
  const link = response.headers.get("Link");
  if (link === null) return undefined;
  const next = /^<(\/v1\/[^>]+)>; rel="next"$/.exec(link);
  expect([link, next !== null]).toEqual([link, true]);
  return `~${next![1]}`;
}

/** Follows the links from a first page. Every page must be 200. */
export async function pagesFrom(
  service: TestService,
  key: string,
  path: string,
  afterEach: () => Promise<unknown> = async () => {},
): Promise<TestResponse[]> {
  const pages: TestResponse[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const page = await service.call("GET", next, { key });
    expect(page.status).toBe(200);
    pages.push(page);
    next = nextOf(page);
    await afterEach();
  }
  return pages;
}

export const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);
