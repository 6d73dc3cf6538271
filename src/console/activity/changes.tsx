import { Button, LinkButton } from "../parts/button.tsx";
import { FieldError, useSubmission } from "../parts/fields.tsx";
import { Empty, WhenLoaded } from "../parts/loaded.tsx";
import { changeNumber } from "../texts/formats.ts";
import { isFiltered } from "./change-filter.ts";
import type { ChangeList } from "./change-list.ts";
import { ChangeTable } from "./change-table.tsx";

interface Props {
  readonly list: ChangeList;
  readonly caption: string;
  readonly isOnePet?: boolean;
}

/** A list of changes with a button for older ones, or what to do if there are none. */
export function Changes({ list, caption, isOnePet = false }: Props) {
  const rows = list.rows.value;
  return (
    <WhenLoaded source={list} what="the changes">
      {(range) => (
        <>
          {rows.length > 0 && (
            <ChangeTable
              caption={caption}
              rows={rows}
              newAfter={range.high - 1}
              isOnePet={isOnePet}
              filter={list.filter}
            />
          )}
          {list.before.value > range.low ? (
            // It starts anew when the list is loaded again.
            <Older key={range} list={list} low={range.low} />
          ) : (
            rows.length === 0 && <Nothing list={list} isOnePet={isOnePet} />
          )}
        </>
      )}
    </WhenLoaded>
  );
}

function Nothing({ list, isOnePet }: Pick<Props, "list" | "isOnePet">) {
  if (isOnePet) {
    return (
      <Empty title="This pet has no changes">
        <p>The ledger has no row with this id. Check the number.</p>
        <LinkButton to="/history">Choose another pet</LinkButton>
      </Empty>
    );
  }
  if (isFiltered(list.filter)) {
    return (
      <Empty title="No change matches">
        <p>Try a longer period or fewer filters. New changes that match appear here.</p>
        <LinkButton to="/activity">Show all changes</LinkButton>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing has changed yet">
      <p>Changes appear here as soon as somebody makes one, in the console or with the API.</p>
      <LinkButton kind="primary" to="/stock">
        Open the stock
      </LinkButton>
    </Empty>
  );
}

function Older({ list, low }: { readonly list: ChangeList; readonly low: number }) {
  const { isBusy, error, run } = useSubmission();
  return (
    <div class="row">
      {error.value !== "" && <FieldError>{error.value}</FieldError>}
      <Button isDisabled={isBusy.value} onClick={() => run(() => list.loadOlder(low))}>
        {isBusy.value ? "Loading…" : "Show older changes"}
      </Button>
      <span class="small muted">
        Includes everything from change {changeNumber(list.before.value)}
      </span>
    </div>
  );
}
