/** Verifies the signatures of the commits that a head adds to the accepted commit before it. */
import { optional } from '../../../kube/objects/optional.ts';
import { parseCommit } from '../http/objects.ts';
import type {
  CommitInfo,
  ObjectReader,
  SignatureProblem,
  SignatureQuestion,
  SignatureReport,
} from '../transport.ts';
import { readRequired } from '../tree.ts';
import { findCommitRange, MAX_RANGE, type RangeCommit, type SignedRange } from './commit-range.ts';
import { commitRefusal, type SignersInForce } from './commit-refusal.ts';
import { createChangeReader } from './own-changes.ts';
import { SignatureError } from './signature-error.ts';
import { splitSignature } from './signed-content.ts';
import { readSignature } from './signer-file.ts';
import { signerName } from './signer-name.ts';
import { createSignerSets, type SetFile } from './signer-sets.ts';

const MAX_PROBLEMS = 10;

export interface VerificationOptions {
  /** True: more of the history can be fetched, and is where a commit is missing. */
  readonly canFetchMore: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Returns `unknown` when a commit is missing in the local repository: more of the history has to be fetched. */
export async function verifySignatures(
  reader: ObjectReader,
  question: SignatureQuestion,
  options: VerificationOptions,
): Promise<SignatureReport | 'unknown'> {
  const { head, before = head } = question;
  if (question.before === head) return reportOf(0, []);
  const first = await readCommit(reader, head);
  const last = await readCommit(reader, before);
  return first && last ? verifyFrom({ reader, question, ...options }, first, last) : 'unknown';
}

type VerificationStart = VerificationOptions & Pick<Verification, 'reader' | 'question'>;

async function verifyFrom(
  start: VerificationStart,
  first: RangeCommit,
  last: RangeCommit,
): Promise<SignatureReport | 'unknown'> {
  const { reader, question, signal } = start;
  const range = await rangeOf(start, first);
  if (range === 'unknown') return range;
  if (range === 'large') return reportOf(0, [problemOf(first.info, tooMany(last.info.oid))]);
  const sets = createSignerSets(reader, question.signers);
  const [signersBefore, signersOfHead] = [
    await sets.inTree(last.info.tree),
    await sets.inTree(first.info.tree),
  ];
  const unusable = headRefusal(signersOfHead);
  if (unusable !== undefined) return reportOf(0, [problemOf(first.info, unusable)]);
  const signers = { before: signersBefore, head: signersOfHead };
  return judgeAll({ reader, question, signers, range, signal });
}

/** Before the first accepted commit only the head is verified: nothing tells whose keys were in force before. */
async function rangeOf(
  { reader, question: { mode, head, before }, canFetchMore }: VerificationStart,
  first: RangeCommit,
): Promise<SignedRange | 'unknown' | 'large'> {
  if (mode === 'Range' && before !== undefined) {
    return findCommitRange(reader, { head, before, canFetchMore });
  }
  return { commits: [first], parents: new Map() };
}

interface Verification {
  readonly reader: ObjectReader;
  readonly question: SignatureQuestion;
  readonly signers: SignersInForce;
  readonly range: SignedRange;
  readonly signal: AbortSignal | undefined;
}

async function judgeAll(verification: Verification): Promise<SignatureReport> {
  const { range, signal } = verification;
  const problems: SignatureProblem[] = [];
  const paths = createPaths(verification);
  for (const commit of range.commits) {
    signal?.throwIfAborted();
    const because = await judge(commit, verification, () => paths(commit.info));
    if (because !== undefined) problems.push(problemOf(commit.info, because));
  }
  const report = reportOf(range.commits.length, problems);
  return problems.length === 0 ? { ...report, ...(await signerOfHead(verification)) } : report;
}

async function signerOfHead({
  range,
  question,
  signers,
}: Verification): Promise<{ readonly signer?: string }> {
  const head = range.commits.find(({ info }) => info.oid === question.head);
  if (!head) return {};
  const times = { committedAt: head.info.committedAt, now: question.now };
  const check = readSignature(splitSignature(head.info.oid, head.raw), times);
  return optional('signer', await signerName(check, signers));
}

async function judge(
  { info, raw }: RangeCommit,
  { signers, question }: Verification,
  paths: () => Promise<readonly string[]>,
): Promise<string | undefined> {
  try {
    const times = { committedAt: info.committedAt, now: question.now };
    const check = readSignature(splitSignature(info.oid, raw), times);
    return await commitRefusal({ check, paths }, signers);
  } catch (error) {
    if (error instanceof SignatureError) return error.message;
    throw error;
  }
}

/** In mode Head the signer of the head vouches for everything since the accepted commit. The first commit of all has no paths. */
function createPaths({
  reader,
  range,
  question,
}: Verification): (commit: CommitInfo) => Promise<readonly string[]> {
  const treeOf = async (oid: string): Promise<string> =>
    parseCommit(oid, await readRequired(reader, oid)).tree;
  const changes = createChangeReader({ reader, parents: range.parents, treeOf });
  const { mode, before } = question;
  if (before === undefined) return async () => [];
  if (mode === 'Head') return ({ oid }) => changes.pathsBetween(before, oid);
  return (commit) => changes.ownPaths(commit);
}

/** A head whose signers cannot be read would be the last one that is accepted. */
function headRefusal(sets: readonly SetFile[]): string | undefined {
  for (const { set, file } of sets) {
    const where = `signer file ${set.keysPath} of the signers ${set.name}`;
    if (!file) return `it has no ${where}: restore it, or remove the signers from spec.source.signers first`;
    if (file.problem !== undefined) return `${where}: ${file.problem}`;
  }
  return undefined;
}

function tooMany(before: string): string {
  return `it adds more than ${MAX_RANGE} commits to ${before.slice(0, 12)}: push fewer at a time`;
}

async function readCommit(reader: ObjectReader, oid: string): Promise<RangeCommit | undefined> {
  const raw = await reader.read(oid);
  return raw && { info: parseCommit(oid, raw), raw };
}

function problemOf({ oid, subject }: CommitInfo, because: string): SignatureProblem {
  return { commit: oid, subject, because };
}

function reportOf(commits: number, problems: readonly SignatureProblem[]): SignatureReport {
  return { commits, problems: problems.slice(0, MAX_PROBLEMS), refused: problems.length };
}
