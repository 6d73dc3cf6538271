import { clock } from "./clock/part.ts";
import { crash } from "./crash/part.ts";
import type { Part } from "./part.ts";
import { power } from "./power/part.ts";

export const parts: readonly Part[] = [power, clock, crash];
