import { useEffect, useRef } from "preact/hooks";
import { announce } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../texts/formats.ts";
import type { ChangeList } from "./change-list.ts";

/** Rows do not move while the person reads further down. */
const scrolledMin = 240;

/**
 * Stops new rows, and shows how many are waiting. Scrolling down stops them too, until the person is
 * back at the top.
 */
export function HoldButton({ list }: { readonly list: ChangeList }) {
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
