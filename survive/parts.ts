import { overload } from "./overload/part.ts";
import type { Part } from "./part.ts";
import { power } from "./power/part.ts";
import { soak } from "./soak/part.ts";

export const parts: readonly Part[] = [power, overload, soak];
