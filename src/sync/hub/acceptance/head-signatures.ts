/** Refuses a head by the signatures of the commits that it adds (S19). */
import type { Pipeline } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { truncate } from '../../../kube/objects/truncate.ts';
import type { AcceptedHead } from '../../accepted-heads.ts';
import { isGitError } from '../../git/errors.ts';
import type {
  Ancestry,
  GitTransport,
  SignatureProblem,
  SignatureReport,
  SignerSet,
} from '../../git/transport.ts';
import type { CommitAcceptance } from './commit-checks.ts';

export interface SignaturePolicy {
  readonly mode: 'None' | 'Head' | 'Range';
  readonly signers: readonly SignerSet[];
}

/** The Pipeline in the hub is that of the accepted commit before the head: no commit loosens what it is judged by. */
export function signaturePolicy({ spec }: Pick<Pipeline, 'spec'>): SignaturePolicy {
  const { signatures, signers } = spec.source;
  return {
    mode: signatures,
    signers: signers.map(({ name, keysPath, paths }) => ({ name, keysPath, paths })),
  };
}

/** Two commits and the hint fit into a message of the Pipeline. A reason may quote what an author wrote, at any length. */
const [MAX_SUBJECT, MAX_REASON] = [41, 300];

export interface SignedHead {
  readonly head: string;
  /** The newest commit that the hub accepted. What only inventories name proves nothing: a cluster could name any commit. */
  readonly newest: string | undefined;
  readonly accepted: readonly AcceptedHead[];
  readonly policy: SignaturePolicy;
  readonly now: Date;
  readonly signal: AbortSignal;
}

interface SignedRepository {
  readonly git: Pick<GitTransport, 'ancestry' | 'signatures'>;
  readonly ref: string;
}

export interface HeadSignatures {
  /** Why the head is refused. */
  readonly refusal?: CommitAcceptance;
  /** The name of the key that signed the head. */
  readonly signer?: string;
  /** Everybody who wrote or signed a commit since the accepted one before it. Absent: these commits were not verified. */
  readonly authors?: readonly string[];
}

/** Rejects when git cannot answer. A head that a person accepted needs no signature. */
export async function checkHeadSignatures(
  repository: SignedRepository,
  { head, newest, accepted, policy, now, signal }: SignedHead,
): Promise<HeadSignatures> {
  const { mode, signers } = policy;
  const byPerson = accepted.filter((each) => each.byPerson).map(({ commit }) => commit);
  if (mode === 'None' || byPerson.includes(head)) return {};
  const { git, ref } = repository;
  const before = await acceptedBefore(repository, { head, newest, byPerson, signal });
  const question = { mode, head, ...optional('before', before), ref, signers, now };
  try {
    const report = await git.signatures(question, signal);
    const message = signatureRefusal(report, head);
    if (message !== undefined) return refusedFor(message);
    // In mode Head the others are not verified, and before a head that a person accepted neither.
    const authors = mode === 'Range' && before === newest ? report.authors : undefined;
    return { ...optional('signer', report.signer), ...optional('authors', authors) };
  } catch (error) {
    return refusedFor(unreadableRefusal(error, { head, before }));
  }
}

function refusedFor(message: string): HeadSignatures {
  return { refusal: { accepted: false, verdict: 'BadSignature', message } };
}

/** Returns why a head is refused of which the history is not in the repository any more. Throws any other error. */
function unreadableRefusal(
  error: unknown,
  { head, before = 'the start' }: { readonly head: string; readonly before: string | undefined },
): string {
  if (!isGitError(error, 'NotFoundObject')) throw error;
  return (
    `the signatures of the commits since ${before.slice(0, 12)} cannot be verified: ${truncate(error.message, MAX_REASON)}. ` +
    `Push what is missing, or run: kubenode release accept-head ${head}`
  );
}

/**
 * Returns the commit whose signers decide. It is the newest accepted one, also where the head does not descend from it, unless the head
 * continues a head that a person accepted in its place.
 */
async function acceptedBefore(
  { git, ref }: SignedRepository,
  {
    head,
    newest,
    byPerson,
    signal,
  }: Pick<SignedHead, 'head' | 'newest' | 'signal'> & { readonly byPerson: readonly string[] },
): Promise<string | undefined> {
  if (newest === undefined || (await relation(newest)) !== 'diverged') return newest;
  for (const commit of byPerson) if ((await relation(commit)) === 'descends') return commit;
  return newest;

  async function relation(ancestor: string): Promise<Ancestry> {
    try {
      return await git.ancestry({ ancestor, head, ref }, signal);
    } catch (error) {
      if (isGitError(error, 'NotFoundObject')) return 'diverged';
      throw error;
    }
  }
}

const MAX_NAMED = 2;
/** Returns what is wrong, the newest commit first. Pure. */
export function signatureRefusal({ problems, refused }: SignatureReport, head: string): string | undefined {
  if (refused === 0) return undefined;
  const named = problems.slice(0, MAX_NAMED).map(problemText);
  const more = refused > named.length ? `; and ${refused - named.length} more commits` : '';
  return (
    `${named.join('; ')}${more}. Push signed commits in place of them (git rebase --exec 'git commit --amend --no-edit -S'), ` +
    `or run: kubenode release accept-head ${head}`
  );
}

function problemText({ commit, subject, because }: SignatureProblem): string {
  return `commit ${commit.slice(0, 12)} (${truncate(subject, MAX_SUBJECT)}): ${truncate(because, MAX_REASON)}`;
}
