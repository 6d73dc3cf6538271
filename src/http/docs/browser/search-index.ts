/** Finds the parts of the page that match a query. */

export interface Topic {
  /** Where the topic is: the id of its element. */
  readonly id: string;
  /** "Operation", "Webhook", "Schema", "Header", "Error code" or "Section". */
  readonly kind: string;
  readonly title: string;
  /** Other names: the path of an operation, the fields of a schema. */
  readonly keywords: string;
  readonly text: string;
}

/** Returns the topics that contain every word of the query, the best first. */
export function findTopics(topics: readonly Topic[], query: string): Topic[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const scored = topics.flatMap((topic) => {
    const scores = words.map((word) => scoreOf(topic, word));
    const total = scores.reduce((sum, score) => sum + score, 0);
    return scores.includes(0) ? [] : [{ topic, total }];
  });
  // The order of the page decides between equals: sort is stable.
  scored.sort((one, other) => other.total - one.total);
  return scored.map(({ topic }) => topic);
}

function scoreOf(topic: Topic, word: string): number {
  const title = topic.title.toLowerCase();
  if (title === word) return 100;
  if (title.startsWith(word)) return 60;
  if (startsAWord(title, word)) return 40;
  const keywords = topic.keywords.toLowerCase();
  if (keywords.split(" ").includes(word)) return 30;
  if (title.includes(word)) return 20;
  if (startsAWord(keywords, word)) return 15;
  if (keywords.includes(word)) return 8;
  return startsAWord(topic.text.toLowerCase(), word) ? 2 : 0;
}

/** A word starts after anything that is no letter and no digit, as in `rate_limit` and `/pets`. */
function startsAWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[a-z0-9]/.test(text[at - 1]!)) return true;
  }
  return false;
}
