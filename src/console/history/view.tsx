import { isPetId } from "../activity/change-filter.ts";
import { hrefOf } from "../page/router.ts";
import { useScans } from "../parts/scanner.ts";
import type { ViewProps } from "../parts/view.tsx";
import { openScanned } from "../stock/scanned.ts";
import { ChoosePet } from "./choose-pet.tsx";
import { EntryHistory } from "./entry-history.tsx";
import { MomentView } from "./moment.tsx";

/**
 * /history lets the person choose a pet, /history/ID shows one, and /history/moment the whole
 * inventory at a moment.
 */
export default function HistoryView({ rest, query }: ViewProps) {
  useScans((code) => openScanned(code, "/history"));
  const isMoment = rest === "moment";
  return (
    <div class="stack history">
      <h1 class="view-title">History</h1>
      <nav class="tabs" aria-label="History">
        <a class="tab" href={hrefOf("/history")} aria-current={isMoment ? undefined : "page"}>
          One pet
        </a>
        <a
          class="tab"
          href={hrefOf("/history/moment")}
          aria-current={isMoment ? "page" : undefined}
        >
          Whole inventory
        </a>
      </nav>
      {isMoment ? (
        <MomentView at={query.get("at") ?? ""} />
      ) : isPetId(rest) ? (
        <EntryHistory key={rest} petId={rest} />
      ) : (
        <ChoosePet />
      )}
    </div>
  );
}
