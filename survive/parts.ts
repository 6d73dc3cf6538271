import { network } from "./network/part.ts";
import type { Part } from "./part.ts";
import { power } from "./power/part.ts";

export const parts: readonly Part[] = [power, network];
