import { formatCount } from "../texts/numbers.ts";
import { counts } from "./counting.ts";

/** What was counted, and how much that is more or less than expected. */
export function CountedCell({ petId }: { readonly petId: string }) {
  const count = counts.value.get(petId);
  if (!count) return <div role="gridcell" class="cell cell-counted" />;
  const difference = count.counted - count.expected;
  const sign = difference > 0 ? "+" : "−";
  return (
    <div role="gridcell" class="cell cell-counted number">
      {formatCount(count.counted)}
      {difference !== 0 && (
        <span class="badge warning">
          {sign}
          {formatCount(Math.abs(difference))}
        </span>
      )}
    </div>
  );
}
