/** Accepts or refuses the head of a repository by its ancestry, its signatures, its render and its objects. */
import { isDeepStrictEqual } from 'node:util';
import { optional } from '../../../kube/objects/optional.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import { secondsBetween } from '../../../os/dates.ts';
import type { AcceptedHead } from '../../accepted-heads.ts';
import type { DecryptionKeys } from '../../decrypt-objects.ts';
import { isRefusal } from '../../git/errors.ts';
import type { GitTransport } from '../../git/transport.ts';
import type { IdentityQuestion } from '../../judge/identity-units.ts';
import { isRenderError } from '../../render/errors.ts';
import type { RenderStore } from '../render-store.ts';
import { checkAppliedCommit } from './applied-commit.ts';
import {
  acceptAncestry,
  acceptContent,
  acceptRenderError,
  type CommitAcceptance,
  refuseCommit,
  type VerdictMemory,
} from './commit-checks.ts';
import { decryptionRefusal } from './decryption.ts';
import { checkHeadSignatures, type HeadSignatures, type SignaturePolicy } from './head-signatures.ts';
import { identityRefusal } from './identities.ts';
import { createVerifiedSigners, type SignersSinceRelease, type VerifiedSigners } from './verified-signers.ts';

export interface HeadAcceptanceOptions {
  readonly git: GitTransport;
  readonly ref: string;
  readonly renders: RenderStore;
  /** Outlives the acceptance. */
  readonly verdicts: VerdictMemory;
  /** Accepted commits that are applied to clusters: a head has to descend from all of them. */
  readonly appliedCommits: () => readonly string[];
  /** The newest commit with a Release: it was accepted by a former process. */
  readonly newestReleasedCommit: () => string | undefined;
  /** Tells whether the hub has a Release of the commit. */
  readonly hasRelease: (commit: string) => boolean;
  /** The heads that persons accepted, as the Pipeline names them now. */
  readonly acceptedHeads: () => readonly AcceptedHead[];
  /** Which commits must be signed, and by whom, as the Pipeline declares now. */
  readonly signatures: () => SignaturePolicy;
  /** The Pipeline, and the units for which it names an account now. */
  readonly identities: () => IdentityQuestion;
  /** The keys of encrypted objects. */
  readonly keys: () => DecryptionKeys;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

export interface HeadAcceptance {
  /** Rejects when the result is unknown, e.g. when git is unreachable: the next poll checks again. */
  check(head: string, signal: AbortSignal): Promise<void>;
  /** The result of the last check, when it was for this head. */
  resultFor(head: string): CommitAcceptance | undefined;
  newestAccepted(): string | undefined;
  /** Returns who signed the commit and those before it that have no Release, if that was verified here. */
  signersOf(commit: string): SignersSinceRelease;
}

interface JudgedHead {
  readonly key: string;
  readonly head: string;
  readonly acceptance: CommitAcceptance;
  readonly judgedAt: Date;
}

/** Signatures are verified again after this time: a key, or a signature, may become valid. It is as long as clocks may differ. */
const SIGNATURES_AGAIN_SECONDS = 300;

export function createHeadAcceptance(options: HeadAcceptanceOptions): HeadAcceptance {
  const { renders, verdicts, log } = options;
  let last: JudgedHead | undefined;
  let accepted: string | undefined;
  const signers = createVerifiedSigners();

  return {
    check,
    resultFor: (head) => (last?.head === head ? last.acceptance : undefined),
    newestAccepted: () => accepted,
    signersOf: (commit) => signers.get(commit, options.hasRelease),
  };

  /** Keeps the result while the inputs are unchanged, and time changes nothing about it. */
  async function check(head: string, signal: AbortSignal): Promise<void> {
    const question = questionAbout(head, signal);
    const { before, accepted: heads, policy, newest, now, identities } = question;
    const key = JSON.stringify([head, heads, before, policy, [...identities.before]]);
    const known = last?.key === key ? last : undefined;
    if (known && !isOutdated(known, now)) return;
    const acceptance = await acceptanceOf(question);
    signal.throwIfAborted();
    last = { key, head, acceptance, judgedAt: now };
    if (!isDeepStrictEqual(known?.acceptance, acceptance)) logAcceptance(acceptance, question);
    // Promotion continues with what a former process accepted: after a takeover, too, drift is corrected and holds are released.
    accepted = acceptance.accepted ? head : newest;
  }

  function questionAbout(head: string, signal: AbortSignal): HeadQuestion {
    const newest = accepted ?? options.newestReleasedCommit();
    const before = [...new Set([...(newest ? [newest] : []), ...options.appliedCommits()])];
    const now = options.clock.now();
    return {
      head,
      before,
      newest,
      accepted: options.acceptedHeads(),
      policy: options.signatures(),
      identities: options.identities(),
      now,
      signal,
    };
  }

  function logAcceptance(acceptance: CommitAcceptance, { head, newest }: HeadQuestion): void {
    if (!acceptance.accepted) {
      const { verdict, message: because } = acceptance;
      log.warn('head not accepted', { commit: head, verdict, because });
    } else if (newest !== head) {
      log.info('head accepted', { commit: head, because: acceptance.because });
    }
  }

  /** Signatures come before the render, which runs code of the commit. */
  async function acceptanceOf(question: HeadQuestion): Promise<CommitAcceptance> {
    try {
      const refusal = await ancestryRefusal(options, question);
      if (refusal) return refusal;
      const signatures = await checkHeadSignatures(options, question);
      if (signatures.refusal) return signatures.refusal;
      rememberSigners(signers, question, signatures);
      const content = await contentAcceptance(question);
      return content.accepted ? ((await identityRefusal(renders, question)) ?? content) : content;
    } catch (error) {
      if (isRefusal(error)) return refuseCommit(error);
      throw error;
    }
  }

  /** Found once for each commit: neither what it renders to nor the checks change while this process runs. */
  async function contentAcceptance({ head, signal }: HeadQuestion): Promise<CommitAcceptance> {
    const known = verdicts.get(head);
    if (known) return known;
    const found = await judge(head, signal);
    verdicts.put(head, found);
    return found;
  }

  async function judge(head: string, signal: AbortSignal): Promise<CommitAcceptance> {
    try {
      const verdict = await renders.judge(head, signal);
      if (!verdict.accepted) return acceptContent(verdict);
      const refused = await decryptionRefusal(await renders.get(head, signal), options.keys());
      return acceptContent(refused ?? verdict);
    } catch (error) {
      if (isRenderError(error)) return acceptRenderError(error);
      if (isRefusal(error)) return refuseCommit(error);
      throw error;
    }
  }
}

/** The accepted commit itself is not verified again: what is known of it stays. */
function rememberSigners(
  signers: VerifiedSigners,
  { head, newest }: HeadQuestion,
  { signer, authors }: HeadSignatures,
): void {
  if (head === newest) return;
  signers.put(head, {
    ...optional('before', newest),
    ...optional('signer', signer),
    ...optional('authors', authors),
  });
}

/** Also when the clock was set back. */
function isOutdated({ acceptance, judgedAt }: JudgedHead, now: Date): boolean {
  const isSignature = !acceptance.accepted && acceptance.verdict === 'BadSignature';
  return isSignature && Math.abs(secondsBetween(judgedAt, now)) >= SIGNATURES_AGAIN_SECONDS;
}

interface HeadQuestion {
  readonly head: string;
  /** The newest commit that the hub accepted, and commits that only inventories name. */
  readonly before: readonly string[];
  readonly newest: string | undefined;
  readonly accepted: readonly AcceptedHead[];
  readonly policy: SignaturePolicy;
  readonly identities: IdentityQuestion;
  readonly now: Date;
  readonly signal: AbortSignal;
}

async function ancestryRefusal(
  { git, ref }: Pick<HeadAcceptanceOptions, 'git' | 'ref'>,
  { head, before, newest, accepted, signal }: HeadQuestion,
): Promise<CommitAcceptance | undefined> {
  for (const lastApplied of before) {
    const question = { head, lastApplied, isReleased: lastApplied === newest, accepted };
    const acceptance = acceptAncestry(await checkAppliedCommit({ git, ref }, question, signal));
    if (!acceptance.accepted) return acceptance;
  }
  return undefined;
}
