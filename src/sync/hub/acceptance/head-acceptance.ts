/** Accepts or refuses the head of a repository by its ancestry, its signatures, its render and its objects. */
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import { secondsBetween } from '../../../os/dates.ts';
import type { AcceptedHead } from '../../accepted-heads.ts';
import type { DecryptionKeys } from '../../decrypt-objects.ts';
import { isRefusal } from '../../git/errors.ts';
import type { GitTransport } from '../../git/transport.ts';
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
import { checkHeadSignatures, type SignaturePolicy } from './head-signatures.ts';

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
  /** The heads that persons accepted, as the Pipeline names them now. */
  readonly acceptedHeads: () => readonly AcceptedHead[];
  /** Which commits must be signed, and by whom, as the Pipeline declares now. */
  readonly signatures: () => SignaturePolicy;
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
  /** Returns the name of the key that signed the commit, if it was verified here. */
  signerOf(commit: string): string | undefined;
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
  const signers = createSignerNames();

  return {
    check,
    resultFor: (head) => (last?.head === head ? last.acceptance : undefined),
    newestAccepted: () => accepted,
    signerOf: signers.get,
  };

  /** Keeps the result while the inputs are unchanged, and time changes nothing about it. */
  async function check(head: string, signal: AbortSignal): Promise<void> {
    const question = questionAbout(head, signal);
    const { before, accepted: heads, policy, newest, now } = question;
    const key = JSON.stringify([head, heads, before, policy]);
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
      if (signatures.signer !== undefined) signers.put(question.head, signatures.signer);
      return await contentAcceptance(question);
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

/** Heads follow one another: older ones have a Release. */
const MAX_SIGNERS = 20;

interface SignerNames {
  readonly get: (commit: string) => string | undefined;
  readonly put: (commit: string, name: string) => void;
}

/** A head that is accepted is not verified again, so the name is kept until its Release is created. */
function createSignerNames(): SignerNames {
  const names = new Map<string, string>();
  return {
    get: (commit) => names.get(commit),
    put(commit, name) {
      names.delete(commit);
      names.set(commit, name);
      const [oldest] = names.keys();
      if (names.size > MAX_SIGNERS && oldest !== undefined) names.delete(oldest);
    },
  };
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
