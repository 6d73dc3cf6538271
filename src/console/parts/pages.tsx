import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { type PageOf, requestPage } from "../client/api.ts";
import { Button } from "./button.tsx";
import { FieldError, useSubmission } from "./fields.tsx";
import { NotLoaded } from "./loaded.tsx";

interface Props<Row> {
  /** The path of the first page. To show another list, also change the component's `key`. */
  readonly path: string;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
  /** Shown if there are no rows. */
  readonly empty: ComponentChildren;
  readonly failedTitle: string;
  /** The text of the button that loads the next page. */
  readonly moreText: string;
}

/** A list of which the service returns one page at a time. */
export function Pages<Row>({ path, children, empty, failedTitle, moreText }: Props<Row>) {
  const state = useSignal<PageOf<Row>>({ items: [], next: path });
  const { isBusy, error, run } = useSubmission();
  const load = (signal?: AbortSignal) =>
    run(async () => {
      const { items, next } = state.peek();
      const page = await requestPage<Row>(next!, signal);
      state.value = { items: [...items, ...page.items], next: page.next };
    });
  // Before the page is drawn, so that it never looks empty.
  useLayoutEffect(() => {
    const leaving = new AbortController();
    void load(leaving.signal);
    return () => leaving.abort();
  }, []);
  const { items: rows, next } = state.value;
  if (rows.length === 0 && error.value !== "") {
    return <NotLoaded title={failedTitle} message={error.value} retry={() => void load()} />;
  }
  if (rows.length === 0 && isBusy.value) return <p class="loading">Loading…</p>;
  return (
    <>
      {rows.length > 0 && children(rows)}
      {rows.length === 0 && next === undefined && empty}
      {error.value !== "" && <FieldError>{error.value}</FieldError>}
      {next && (
        <p class="more">
          <Button isDisabled={isBusy.value} onClick={() => load()}>
            {isBusy.value ? "Loading…" : error.value === "" ? moreText : "Try again"}
          </Button>
        </p>
      )}
    </>
  );
}
