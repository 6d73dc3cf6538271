import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { messageOf, requestPage } from "../client/api.ts";
import { Button } from "./button.tsx";
import { NotLoaded } from "./empty.tsx";
import { FieldError } from "./fields.tsx";

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

interface State<Row> {
  readonly rows: readonly Row[];
  /** The path of the next page. Undefined at the end. */
  readonly next: string | undefined;
  readonly isLoading: boolean;
  readonly error: string;
}

/** A list of which the service returns one page at a time. */
export function Pages<Row>({ path, children, empty, failedTitle, moreText }: Props<Row>) {
  const state = useSignal<State<Row>>({ rows: [], next: path, isLoading: true, error: "" });
  const load = async (signal?: AbortSignal) => {
    const { rows, next } = state.peek();
    state.value = { rows, next, isLoading: true, error: "" };
    try {
      const page = await requestPage<Row>(next!, signal);
      const all = [...rows, ...page.items];
      state.value = { rows: all, next: page.next, isLoading: false, error: "" };
    } catch (error) {
      if (signal?.aborted) return;
      state.value = { rows, next, isLoading: false, error: messageOf(error) };
    }
  };
  useEffect(() => {
    const leaving = new AbortController();
    void load(leaving.signal);
    return () => leaving.abort();
  }, []);
  const { rows, next, isLoading, error } = state.value;
  if (error !== "" && rows.length === 0) {
    return <NotLoaded title={failedTitle} message={error} retry={() => void load()} />;
  }
  if (rows.length === 0 && isLoading) return <p class="loading">Loading…</p>;
  return (
    <>
      {rows.length > 0 && children(rows)}
      {rows.length === 0 && next === undefined && empty}
      {error !== "" && <FieldError>{error}</FieldError>}
      {next && (
        <p class="more">
          <Button isDisabled={isLoading} onClick={() => load()}>
            {isLoading ? "Loading…" : error === "" ? moreText : "Try again"}
          </Button>
        </p>
      )}
    </>
  );
}
