import { hrefOf } from "../page/router.ts";
import { changeNumber } from "../texts/numbers.ts";
import { isFiltered } from "./change-filter.ts";
import type { ChangeList } from "./change-list.ts";
import { ChangeTable } from "./change-table.tsx";

interface Props {
  readonly list: ChangeList;
  readonly caption: string;
  readonly hasPets?: boolean;
  readonly hasMoments?: boolean;
}

/** A list of changes with a button for older ones, or what to do if there are none. */
export function Changes({ list, caption, hasPets = true, hasMoments = false }: Props) {
  const state = list.state.value;
  if (state.kind === "loading") return <p class="loading">Loading the changes…</p>;
  if (state.kind === "failed") {
    return (
      <div class="empty" role="alert">
        <h2>The changes could not be loaded</h2>
        <p>{state.message}</p>
        <button type="button" class="button primary" onClick={() => void list.reload()}>
          Try again
        </button>
      </div>
    );
  }
  const rows = list.rows.value;
  return (
    <>
      {rows.length > 0 && (
        <ChangeTable
          caption={caption}
          rows={rows}
          newAfter={list.loadedUpTo.value}
          hasPets={hasPets}
          hasMoments={hasMoments}
        />
      )}
      {rows.length === 0 && list.isEnd.value && <Nothing list={list} hasPets={hasPets} />}
      <Older list={list} />
    </>
  );
}

function Nothing({ list, hasPets }: Pick<Props, "list" | "hasPets">) {
  if (!hasPets) {
    return (
      <div class="empty">
        <h2>This pet has no changes</h2>
        <p>The ledger has no row with this id. Check the number.</p>
        <a class="button" href={hrefOf("/history")}>
          Choose another pet
        </a>
      </div>
    );
  }
  if (isFiltered(list.filter)) {
    return (
      <div class="empty">
        <h2>No change matches</h2>
        <p>Try a longer period or fewer filters. New changes that match appear here.</p>
        <a class="button" href={hrefOf("/activity")}>
          Show all changes
        </a>
      </div>
    );
  }
  return (
    <div class="empty">
      <h2>Nothing has changed yet</h2>
      <p>Changes appear here as soon as somebody makes one, in the console or with the API.</p>
      <a class="button primary" href={hrefOf("/stock")}>
        Open the stock
      </a>
    </div>
  );
}

function Older({ list }: { readonly list: ChangeList }) {
  if (list.isEnd.value) return null;
  return (
    <div class="older">
      {list.olderError.value !== "" && (
        <p class="field-error" role="alert">
          {list.olderError.value}
        </p>
      )}
      <button
        type="button"
        class="button"
        disabled={list.isLoadingOlder.value}
        onClick={() => void list.loadOlder()}
      >
        {list.isLoadingOlder.value ? "Loading…" : "Show older changes"}
      </button>
      <span class="small muted">
        Includes everything from change {changeNumber(list.before.value)}
      </span>
    </div>
  );
}
