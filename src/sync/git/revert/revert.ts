/** Makes one commit that takes back all commits after `from` up to `to`, on top of `onto`. Reads only what was fetched. */
import { isAncestor } from '../commit-walk.ts';
import { parseCommit } from '../http/objects.ts';
import { findCommitRange } from '../signatures/commit-range.ts';
import { SignatureError } from '../signatures/signature-error.ts';
import { type VerificationOptions, verifySignatures } from '../signatures/verify.ts';
import type { ObjectReader, RevertQuestion, RevertResult } from '../transport.ts';
import { readRequired } from '../tree.ts';
import { commitContent } from './commit-content.ts';
import { createNewObjects, type NewObjects } from './new-objects.ts';
import { mergeTrees } from './tree-merge.ts';

/** The trailer of each commit that sync makes: a range with one is never reverted by sync. */
export const REVERT_TRAILER = 'Kubenode-Revert';
const OWN = new RegExp(`^${REVERT_TRAILER}: `, 'm');
/** The most conflicting paths that are returned. */
const MAX_PATHS = 20;

/** Returns `unknown` when a commit is missing in the local repository: more of the history has to be fetched. */
export async function makeRevert(
  reader: ObjectReader,
  question: RevertQuestion,
  options: VerificationOptions,
): Promise<RevertResult | 'unknown'> {
  const refusal = await rangeRefusal(reader, question, options);
  if (refusal) return refusal;
  const objects = createNewObjects();
  const trees = {
    base: await treeOf(reader, question.to),
    ours: await treeOf(reader, question.onto),
    theirs: await treeOf(reader, question.from),
  };
  const { tree = objects.add('tree', new Uint8Array()), conflicts } = await mergeTrees(
    reader,
    trees,
    objects,
  );
  if (conflicts.length > 0) return { type: 'Conflict', paths: conflicts.toSorted().slice(0, MAX_PATHS) };
  if (tree === trees.ours) return { type: 'Nothing' };
  return await commitOf({ reader, question, options, objects }, tree);
}

/** A range that is not simply the commits after `from` would take back more, or less, than what failed. */
async function rangeRefusal(
  reader: ObjectReader,
  { from, to, onto }: RevertQuestion,
  { canFetchMore }: VerificationOptions,
): Promise<RevertResult | 'unknown' | undefined> {
  for (const [ancestor, head] of [
    [to, onto],
    [from, to],
  ] as const) {
    const found = await isAncestor(ancestor, head, reader);
    if (found === 'unknown') return found;
    if (!found) return { type: 'Unrelated', ancestor, head };
  }
  const range = await findCommitRange(reader, { head: to, before: from, canFetchMore });
  if (range === 'unknown') return range;
  if (range === 'large') return { type: 'Unrelated', ancestor: from, head: to };
  const own = range.commits.find(({ info }) => OWN.test(info.body));
  return own && { type: 'OwnRevert', commit: own.info.oid };
}

interface Merged {
  readonly reader: ObjectReader;
  readonly question: RevertQuestion;
  readonly options: VerificationOptions;
  readonly objects: NewObjects;
}

async function commitOf(
  { reader, question, options, objects }: Merged,
  tree: string,
): Promise<RevertResult | 'unknown'> {
  const { onto, message, at, signingKey, signatures } = question;
  const unsigned = { tree, parent: onto, message, at };
  const { content, problem } = signedContent({
    ...unsigned,
    ...(signingKey === undefined ? {} : { signingKey }),
  });
  const commit = objects.add('commit', content);
  const result = { type: 'Revert', commit, objects: objects.list() } as const;
  if (problem !== undefined) return { ...result, unaccepted: problem };
  if (!signatures) return result;
  const report = await verifySignatures(
    objects.over(reader),
    { ...signatures, head: commit, before: onto },
    options,
  );
  if (report === 'unknown') return report;
  const [first] = report.problems;
  return first ? { ...result, unaccepted: first.because } : result;
}

/** A key that is not usable leaves the commit unsigned. */
function signedContent(commit: Parameters<typeof commitContent>[0]): {
  readonly content: Buffer;
  readonly problem?: string;
} {
  try {
    return { content: commitContent(commit) };
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    const { signingKey: _, ...unsigned } = commit;
    return { content: commitContent(unsigned), problem: error.message };
  }
}

async function treeOf(reader: ObjectReader, oid: string): Promise<string> {
  return parseCommit(oid, await readRequired(reader, oid)).tree;
}
