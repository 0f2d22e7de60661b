/** Reads the entries of lists that git hosts answer. Pure. */
import { isRecord, type JsonRecord, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { HostComment, PullRequest } from './adapter.ts';

export function recordsIn(answer: unknown): readonly JsonRecord[] {
  return Array.isArray(answer) ? (answer as readonly unknown[]).filter(isRecord) : [];
}

const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
const MAX_NUMBER = 2_147_483_647;

/** Returns nothing for an entry without a usable number or commit: both become part of a ref and of URLs. */
export function pullOf(number: unknown, head: unknown, isFork: boolean): readonly PullRequest[] {
  if (!isPullNumber(number) || typeof head !== 'string' || !COMMIT.test(head)) return [];
  return [{ number, head, isFork }];
}

export function isPullNumber(number: unknown): number is number {
  return typeof number === 'number' && Number.isInteger(number) && number > 0 && number <= MAX_NUMBER;
}

/** Returns the comments of a list. */
export function commentsIn(answer: unknown): readonly HostComment[] {
  return recordsIn(answer).flatMap((each) => {
    const id = commentId(each);
    return id === undefined ? [] : [{ id, body: textAt(each, 'body') ?? '' }];
  });
}

/** Returns the id of a comment: an integer, however large. */
export function commentId(comment: unknown): string | undefined {
  const id = valueAt(comment, 'id');
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? String(id) : undefined;
}
