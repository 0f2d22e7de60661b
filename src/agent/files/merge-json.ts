/** Merges our keys into a JSON file that others write, too, such as /etc/docker/daemon.json. Lists are replaced as a whole. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, type JsonRecord, ownValue } from '../../kube/objects/json.ts';
import { splitMark } from './text.ts';

export function mergeJson(content: string, found: string): string {
  const [ours, theirs] = [parse(content), parse(found)];
  // Content that is not a JSON object cannot be merged: it is ours as a whole.
  if (!isRecord(ours)) return content;
  const merged = mergeRecords(ours, isRecord(theirs) ? theirs : {});
  // The formatting of others is kept while the values are right.
  return isDeepStrictEqual(merged, theirs) ? found : print(merged);
}

/** Tells whether keys can be merged into a file: it is a JSON object, or is empty and has nothing to lose. */
export function isMergeableJson(found: string): boolean {
  const { text } = splitMark(found);
  return text.trim() === '' || isRecord(parse(text));
}

export function unmergeJson(content: string, found: string, original: string): string {
  const [ours, now, before] = [parse(content), parse(found), parse(original)];
  if (!isRecord(ours) || !isRecord(now)) return original;
  const kept = unmergeRecords(ours, now, isRecord(before) ? before : {});
  return isDeepStrictEqual(kept, before) ? original : print(kept);
}

function mergeRecords(ours: JsonRecord, theirs: JsonRecord): JsonRecord {
  const merged = Object.entries(ours).map(([key, value]) => {
    const other = ownValue(theirs, key);
    return [key, isRecord(value) && isRecord(other) ? mergeRecords(value, other) : value] as const;
  });
  return Object.fromEntries([...Object.entries(theirs), ...merged]);
}

function unmergeRecords(ours: JsonRecord, now: JsonRecord, before: JsonRecord): JsonRecord {
  const entries = Object.entries(now).flatMap(([key, value]) => {
    if (!Object.hasOwn(ours, key)) return [[key, value] as const];
    const [mine, old] = [ours[key], ownValue(before, key)];
    const restored = old === undefined ? [] : [[key, old] as const];
    if (!isRecord(mine) || !isRecord(value)) return restored;
    const inner = unmergeRecords(mine, value, isRecord(old) ? old : {});
    return Object.keys(inner).length === 0 ? restored : [[key, inner] as const];
  });
  return Object.fromEntries(entries);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function print(value: JsonRecord): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
