import { countMistakes } from "../../domain/values/nearest.ts";
import { pathNotFound } from "./error-messages.ts";

/** Longer paths get no hint: comparing them would take time. */
const charactersMax = 100;
const mistakesMax = 2;

/**
 * The message for a path that does not exist, with the path that the client probably meant. `patterns`
 * are the paths that exist, with parameters as `{name}` or `:name`. With a `prefix`, a path that lacks it
 * is found too.
 */
export function missingPath(url: string, patterns: readonly string[], prefix = ""): string {
  const path = pathOf(url);
  if (path.length > charactersMax) return pathNotFound;
  const whole = `/${path.split("/").filter(Boolean).join("/")}`;
  if (matchesAny(whole, patterns))
    return `${pathNotFound} Without the extra slash, it is ${whole}.`;
  const prefixed = prefix + whole;
  if (prefix && matchesAny(prefixed, patterns)) {
    return `${pathNotFound} Paths of the API start with ${prefix}: ${prefixed}.`;
  }
  const nearest = findNear(whole, patterns) ?? (prefix ? findNear(prefixed, patterns) : undefined);
  return nearest === undefined ? pathNotFound : `${pathNotFound} Did you mean ${nearest}?`;
}

/** The path, cut from the URL. With an invalid Host header, it cannot be parsed. */
export function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  return start < 0 ? "" : url.slice(start).split(/[?#]/, 1)[0]!;
}

function matchesAny(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => likePattern(path, pattern)?.hasSameWords === true);
}

/**
 * The existing path that differs by the fewest mistakes in its fixed words. If several do, the one with the
 * most fixed words.
 */
function findNear(path: string, patterns: readonly string[]): string | undefined {
  let nearest: ReturnType<typeof likePattern>;
  let mistakesLeft = mistakesMax;
  for (const pattern of patterns) {
    const like = likePattern(path, pattern);
    if (!like) continue;
    const [sent, known] = [like.sent.toLowerCase(), like.known.toLowerCase()];
    if (Math.abs(sent.length - known.length) > mistakesLeft) continue;
    const mistakes = countMistakes(sent, known);
    if (mistakes > mistakesLeft) continue;
    if (nearest && mistakes === mistakesLeft && like.fixedWords <= nearest.fixedWords) continue;
    nearest = like;
    mistakesLeft = mistakes;
  }
  return nearest?.path;
}

/** Compares a path with a pattern of as many parts. Parameters have the values of the path. */
function likePattern(path: string, pattern: string) {
  const [sent, known] = [path.split("/"), pattern.split("/")];
  if (sent.length !== known.length) return undefined;
  const isFixed = (_: string, at: number) => !/^[:{]/.test(known[at]!);
  const fixed = known.filter(isFixed);
  const words = { sent: sent.filter(isFixed).join("/"), known: fixed.join("/") };
  const filled = known.map((part, at) => (isFixed(part, at) ? part : sent[at]!)).join("/");
  const hasSameWords = words.sent === words.known;
  return { ...words, hasSameWords, fixedWords: fixed.length, path: filled };
}
