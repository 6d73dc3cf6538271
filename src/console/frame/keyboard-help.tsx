import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import type { Shortcut, View } from "../parts/view.tsx";

const everywhere: readonly Shortcut[] = [
  ["?", "Show this help"],
  ["Tab", "Go to the next control"],
  ["Esc", "Close a dialog or the menu"],
];

interface Props {
  readonly view: View | undefined;
  readonly close: () => void;
}

export function KeyboardHelp({ view, close }: Props) {
  const here = useSignal<readonly Shortcut[]>([]);
  useEffect(() => {
    void view?.load().then(({ shortcuts = [] }) => {
      here.value = shortcuts;
    });
  }, [view, here]);
  return (
    <Dialog title="Keyboard" close={close}>
      <ShortcutList title="Everywhere" shortcuts={everywhere} />
      {here.value.length > 0 && <ShortcutList title={view!.title} shortcuts={here.value} />}
    </Dialog>
  );
}

function ShortcutList(props: { readonly title: string; readonly shortcuts: readonly Shortcut[] }) {
  return (
    <section class="shortcuts">
      <h3>{props.title}</h3>
      <dl>
        {props.shortcuts.map(([keys, meaning]) => (
          <div key={keys + meaning}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd class="kbd" key={key}>
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
