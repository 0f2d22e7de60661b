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
import { joinAuthors, statedAuthors } from './authors.ts';
import { findCommitRange, MAX_RANGE, type RangeCommit, type SignedRange } from './commit-range.ts';
import { commitRefusal, type SignersInForce } from './commit-refusal.ts';
import type { KeyVerdict } from './key-verdict.ts';
import { type ChangeReader, createChangeReader } from './own-changes.ts';
import { SignatureError } from './signature-error.ts';
import { splitSignature } from './signed-content.ts';
import { findSigner, type ValidKey } from './signer.ts';
import { readSignature, type SignatureCheck, type SignerFile } from './signer-file.ts';
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
  const { range, question, signal } = verification;
  const problems: SignatureProblem[] = [];
  const authors = new Set<string>();
  let signer: string | undefined;
  const paths = createPaths(verification);
  for (const commit of range.commits) {
    signal?.throwIfAborted();
    const found = await judge(commit, verification, () => paths(commit.info));
    if (typeof found === 'string') problems.push(problemOf(commit.info, found));
    else if (problems.length === 0) {
      if (commit.info.oid === question.head) signer = found.name;
      for (const name of await authorsOf(commit, found, verification)) authors.add(name);
    }
  }
  const report = reportOf(range.commits.length, problems);
  if (problems.length > 0) return report;
  return { ...report, authors: joinAuthors(authors), ...optional('signer', signer) };
}

/** A person who only merges writes nothing: what the merge brings was signed by others. */
async function authorsOf(
  { info, raw }: RangeCommit,
  { name, person = [name] }: ValidKey,
  verification: Verification,
): Promise<readonly string[]> {
  const isMerge = info.parents.length > 1 && verification.question.mode === 'Range';
  if (isMerge && verification.range.parents.size > 0 && (await isCleanMerge(info, verification))) return [];
  return [...person, ...statedAuthors(raw)];
}

async function isCleanMerge(info: CommitInfo, verification: Verification): Promise<boolean> {
  return (await createChanges(verification).ownPaths(info)).length === 0;
}

/** Returns who signed it, or why it is refused. */
async function judge(
  { info, raw }: RangeCommit,
  { signers, question }: Verification,
  paths: () => Promise<readonly string[]>,
): Promise<ValidKey | string> {
  try {
    const times = { committedAt: info.committedAt, now: question.now };
    const check = askedOnce(readSignature(splitSignature(info.oid, raw), times));
    const refusal = await commitRefusal({ check, paths }, signers);
    return refusal ?? (await findSigner(check, signers)) ?? 'its signer is not known any more';
  } catch (error) {
    if (error instanceof SignatureError) return error.message;
    throw error;
  }
}

/** Each file is asked once about a signature: the computation takes a millisecond. */
function askedOnce(check: SignatureCheck): SignatureCheck {
  const answers = new Map<SignerFile, Promise<KeyVerdict>>();
  return async (file) => {
    const answer = answers.get(file) ?? check(file);
    answers.set(file, answer);
    return await answer;
  };
}

/** In mode Head the signer of the head vouches for everything since the accepted commit. The first commit of all has no paths. */
function createPaths(verification: Verification): (commit: CommitInfo) => Promise<readonly string[]> {
  const changes = createChanges(verification);
  const { mode, before } = verification.question;
  if (before === undefined) return async () => [];
  if (mode === 'Head') return ({ oid }) => changes.pathsBetween(before, oid);
  return (commit) => changes.ownPaths(commit);
}

function createChanges({ reader, range }: Verification): ChangeReader {
  const treeOf = async (oid: string): Promise<string> =>
    parseCommit(oid, await readRequired(reader, oid)).tree;
  return createChangeReader({ reader, parents: range.parents, treeOf });
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
