import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** Rows above and below the visible part, so that scrolling shows no gaps. */
const extraRows = 8;

/** The rows of a long list that exist as elements: from `first` up to and without `end`. */
export interface RowWindow {
  readonly first: number;
  readonly end: number;
}

/**
 * Returns the visible rows of a scrolled list. All rows have the same height, in pixels. The list has
 * the height of all rows, and each row is placed with `translateY`.
 */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  rowCount: number,
  rowHeight: number,
): RowWindow {
  const top = useSignal(0);
  const height = useSignal(600);
  useEffect(() => {
    const element = scroller.current!;
    const scrolled = () => (top.value = element.scrollTop);
    const observer = new ResizeObserver(([entry]) => (height.value = entry!.contentRect.height));
    observer.observe(element);
    element.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", scrolled);
    };
  }, [scroller, top, height]);
  const last = Math.ceil((top.value + height.value) / rowHeight) + extraRows;
  return {
    first: Math.max(0, Math.min(rowCount, Math.floor(top.value / rowHeight)) - extraRows),
    end: Math.min(rowCount, last),
  };
}
