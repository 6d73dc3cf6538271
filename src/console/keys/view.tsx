import type { ViewProps } from "../parts/view.ts";
import { KeyDetail } from "./detail.tsx";
import { KeyList } from "./list.tsx";

/** /keys lists all keys, /keys/ID shows one. */
export default function KeysView({ rest, query }: ViewProps) {
  if (rest === "") return <KeyList query={query} />;
  return <KeyDetail key={rest} id={rest} />;
}
