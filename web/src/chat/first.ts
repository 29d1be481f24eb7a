// The first message of a conversation that was made for it, until its page has sent it.
import type { Draft } from "./line";

const waiting = new Map<string, Draft>();

export const sendFirst = (id: string, draft: Draft) => waiting.set(id, draft);

export function takeFirst(id: string): Draft | null {
  const draft = waiting.get(id) ?? null;
  waiting.delete(id);
  return draft;
}
