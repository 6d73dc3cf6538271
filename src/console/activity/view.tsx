import { useEffect, useRef } from "preact/hooks";
import { announce } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
import type { ViewProps } from "../parts/view.tsx";
import { formatCount } from "../texts/formats.ts";
import { readFilter } from "./change-filter.ts";
import { type ChangeList, useChangeList } from "./change-list.ts";
import { Changes } from "./changes.tsx";
import { FilterBar } from "./filter-bar.tsx";

const rowsPerPage = 50;

/** The ledger as it happens. The query of the address is the filter. */
export default function ActivityView({ query }: ViewProps) {
  const list = useChangeList(readFilter(query), rowsPerPage);
  return (
    <div class="stack">
      <div class="spread">
        <h1 class="view-title">Activity</h1>
        <HoldButton list={list} />
      </div>
      <FilterBar filter={list.filter} />
      <Changes list={list} caption="Changes, newest first" />
    </div>
  );
}

/** Rows do not move while the person reads further down. */
const scrolledMin = 240;

/**
 * Stops new rows, and shows how many are waiting. Scrolling down stops them too, until the person is
 * back at the top.
 */
function HoldButton({ list }: { readonly list: ChangeList }) {
  const isScrolled = useRef(false);
  useEffect(() => {
    const holdIfScrolled = () => {
      const isDown = window.scrollY > scrolledMin;
      if (isDown && !list.held.peek()) {
        isScrolled.current = true;
        list.hold();
      } else if (window.scrollY === 0 && isScrolled.current) {
        isScrolled.current = false;
        list.release();
      }
    };
    window.addEventListener("scroll", holdIfScrolled, { passive: true });
    return () => window.removeEventListener("scroll", holdIfScrolled);
  }, [list]);
  const { value: held } = list.held;
  if (!held) {
    return (
      <Button
        onClick={() => {
          list.hold();
          announce("New changes wait until you continue.");
        }}
      >
        Pause
      </Button>
    );
  }
  return (
    <Button
      kind="primary"
      class="held-button"
      onClick={() => {
        isScrolled.current = false;
        list.release();
        window.scrollTo(0, 0);
      }}
    >
      {held.length === 0 ? "Continue" : `Show ${formatCount(held.length)} new`}
    </Button>
  );
}
