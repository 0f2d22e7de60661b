/**
 * Makes the revert that is due next. What it is about to push is recorded in the hub before, and the commit is the same each time it is
 * made: a process that is killed at any line continues with the same branch and the same pull request.
 */
import type { Pipeline, PipelineRevert, Release } from '../../api/generated/types.ts';
import type { HeldLease } from '../../kube/leader/held-lease.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { CommitStatusReport } from '../commits.ts';
import type { GitTransport } from '../git/transport.ts';
import { checkLease } from '../report/call.ts';
import { createSendFailures } from '../report/failures.ts';
import { IDLE_MS } from '../report/host-loop.ts';
import { credentialKey } from '../report/tokens/credential.ts';
import type { RevertDestination } from './destination.ts';
import { revertFailure } from './failure.ts';
import { planRevert, type RevertPlan, type StageFailure, stageFailures } from './plan.ts';
import { createRevertPublisher, type RevertPublisherPorts } from './publisher.ts';
import type { RevertRefusal } from './refusal.ts';
import { revertReason, revertReport, revertSentence } from './report.ts';
import { createRevertStarter, type RevertStarterPorts } from './starter.ts';

export interface NextRevertOptions
  extends Pick<RevertPublisherPorts, 'send' | 'tokens' | 'clock' | 'push'>,
    Pick<RevertStarterPorts, 'signatures'> {
  /** Returns the Pipeline as the hub has it. */
  readonly pipeline: () => Pipeline | undefined;
  readonly releases: () => readonly Release[];
  readonly lease: Pick<HeldLease, 'notHeldReason'>;
  /** Returns the newest accepted commit. Undefined while it is not known. */
  readonly newestAccepted: () => string | undefined;
  readonly git: Pick<GitTransport, 'listRefs' | 'fetch' | 'ancestry' | 'revert'>;
  /** Records the reverts. `pipeline` returns them afterwards. */
  readonly record: (reverts: readonly PipelineRevert[]) => Promise<void>;
  readonly recordEvent?: (event: RevertEvent) => void;
  readonly random: () => number;
  readonly log: Log;
}

export interface NextRevert {
  /** Makes one step at most. Resolves with how long to wait for the next. Rejects when the hub does not take the record. */
  make(pipeline: Pipeline, target: RevertDestination): Promise<number>;
  report(): CommitStatusReport;
}

export interface RevertEvent {
  readonly type: 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** As many as the status keeps. */
const MAX_RECORDS = 20;

export function createNextRevert(options: NextRevertOptions, signal: AbortSignal): NextRevert {
  const failures = createSendFailures(options);
  const starter = createRevertStarter({ ...options, signal, save });
  const publisher = createRevertPublisher({
    ...options,
    signal,
    remake: (turn, record) => starter.remake(turn, record),
    save,
  });
  const refusals = createRefusals(options);
  let waiting: string | undefined;
  return { make, report };

  async function make(pipeline: Pipeline, target: RevertDestination): Promise<number> {
    failures.keepOnlyOf(`${target.address} ${credentialKey(target.credential)}`);
    const waitMs = failures.hostWaitMs();
    if (waitMs > 0) return waitMs;
    const plan = nextPlan(pipeline);
    waiting = plan.type === 'Wait' ? plan.because : undefined;
    if (plan.type === 'None' || plan.type === 'Wait') return IDLE_MS;
    const { failure } = plan;
    const turn = { pipeline, target, failure };
    return await attempt(failure, async () => {
      if (plan.type === 'Continue') return await publisher.publish(turn, plan.record);
      const refusal = await starter.start(turn, plan.onto);
      if (refusal) refusals.add(failure.commit, refusal);
    });
  }

  function nextPlan(pipeline: Pipeline): RevertPlan {
    const failed = stageFailures(pipeline, options.releases()).map(({ commit }) => commit);
    failures.keepOnly(failed);
    // What failed before is over: somebody pushed, or the Release was removed.
    if (failed.length === 0) failures.succeeded('');
    const head = options.newestAccepted();
    const blocked = [...failures.blockedForMs()].filter(([, ms]) => ms > 0).map(([commit]) => commit);
    const refused = new Set([...refusals.of(head).keys(), ...blocked]);
    return planRevert({ pipeline, releases: options.releases(), head, refused });
  }

  /** Writes the record, which is the newest. */
  async function save(record: PipelineRevert): Promise<void> {
    checkLease(options.lease);
    const before = options.pipeline()?.status?.reverts ?? [];
    const others = before.filter(({ commit }) => commit !== record.commit);
    await options.record([record, ...others].slice(0, MAX_RECORDS));
    noteRecord(record, options);
  }

  /** Remembers what git or its host does not do. Anything else rejects. */
  async function attempt({ commit }: StageFailure, work: () => Promise<void>): Promise<number> {
    try {
      await work();
      failures.succeeded(commit);
      return 0;
    } catch (error) {
      signal.throwIfAborted();
      // Another process goes on: this is not a failure.
      if (options.lease.notHeldReason() !== undefined) return IDLE_MS;
      const failure = revertFailure(error);
      if (!failure) throw error;
      const { reason, message } = failure;
      options.log.warn('revert not pushed', { commit, reason, message });
      return failures.failed(commit, failure);
    }
  }

  function report(): CommitStatusReport {
    const pipeline = options.pipeline();
    return revertReport({
      failures: pipeline ? stageFailures(pipeline, options.releases()) : [],
      records: pipeline?.status?.reverts ?? [],
      refusals: refusals.of(options.newestAccepted()),
      waiting,
      problem: failures.report().problem,
    });
  }
}

type Notes = Pick<NextRevertOptions, 'log' | 'recordEvent'>;

function noteRecord(record: PipelineRevert, { log, recordEvent }: Notes): void {
  const { commit, revert, how, state, pullRequest } = record;
  log.info('revert recorded', { commit, revert, how, state, ...optional('pullRequest', pullRequest) });
  if (state === 'Planned') return;
  recordEvent?.({ type: 'Warning', reason: revertReason(record), message: revertSentence(record) });
}

interface Refusals {
  add(commit: string, refusal: RevertRefusal): void;
  /** Returns the refusals of a head: another head may have other files. */
  of(head: string | undefined): ReadonlyMap<string, RevertRefusal>;
}

/** Keeps why no revert is made, in memory: a process that starts finds it out again. */
function createRefusals({ log, recordEvent }: Notes): Refusals {
  const refusals = new Map<string, RevertRefusal>();
  let known: string | undefined;
  return {
    add(commit, refusal) {
      refusals.set(commit, refusal);
      log.warn('revert not made', { commit, ...refusal });
      recordEvent?.({ type: 'Warning', reason: 'RevertNotMade', message: refusal.message });
    },
    of(head) {
      if (head !== known) refusals.clear();
      known = head;
      return refusals;
    },
  };
}
