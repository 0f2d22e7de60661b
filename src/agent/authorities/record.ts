/** The record of what the agent has followed, as a file on the disk. Pure. */
import { type AuthoritiesDocument, parseDocument } from '../../api/authorities/document.ts';
import { optional } from '../../kube/objects/optional.ts';
import { AUTHORITIES_FILE } from '../layout.ts';
import type { FollowedAuthorities } from './verify.ts';

/** Another number: an agent of another version wrote it, and this one cannot use it. */
const FORMAT = 1;

export type FollowedRecord =
  | { readonly followed: FollowedAuthorities }
  /** It cannot be used: without its order, an earlier document could be followed again. */
  | { readonly problem: string };

/** The document is kept only as the text that was signed, so that it cannot differ from it. */
export function formatRecord({
  text,
  isApplied,
  changedAt,
  joinedWith,
  outdated,
}: FollowedAuthorities): string {
  return JSON.stringify({
    format: FORMAT,
    text,
    isApplied,
    changedAt,
    joinedWith,
    ...optional('outdated', outdated),
  });
}

export function parseFollowed(content: string): FollowedRecord {
  const found = objectIn(content);
  if (!found) return damaged('it is not a JSON object');
  if (found['format'] !== FORMAT) return damaged(`expected format ${FORMAT}`);
  const kept = keptIn(found);
  if (!kept) return damaged('a field is missing or of another type');
  const parsed = parseDocument(kept.text);
  return 'problem' in parsed ? damaged(parsed.problem) : { followed: { ...parsed.document, ...kept } };
}

type KeptFields = Omit<FollowedAuthorities, keyof AuthoritiesDocument>;

function keptIn({
  text,
  isApplied,
  changedAt,
  joinedWith,
  outdated,
}: Readonly<Record<string, unknown>>): KeptFields | undefined {
  if (typeof text !== 'string' || typeof isApplied !== 'boolean') return undefined;
  if (!isTime(changedAt) || typeof joinedWith !== 'string' || !isTexts(outdated)) return undefined;
  return { text, isApplied, changedAt, joinedWith, ...optional('outdated', outdated) };
}

function damaged(because: string): FollowedRecord {
  const hint = 'join the host again, or remove the file when the CA beside it is right';
  return { problem: `${AUTHORITIES_FILE} cannot be used: ${because}; the CA is kept. Hint: ${hint}` };
}

function objectIn(content: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(content);
    const isObject = typeof found === 'object' && found !== null && !Array.isArray(found);
    return isObject ? (found as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function isTexts(value: unknown): value is readonly string[] | undefined {
  return value === undefined || (Array.isArray(value) && value.every((each) => typeof each === 'string'));
}
