/**
 * Reports at the git host how far each commit of a Pipeline is, while this process holds the Lease of the Pipeline. What the host
 * accepted is recorded in the status of the Pipeline, after it was sent: a process that is killed in between sends it again, which
 * changes nothing. Nothing else of sync waits for the host.
 */
import type {
  Pipeline,
  PipelineCommitStatuses,
  Release,
  SentCommitStatus,
} from '../../api/generated/types.ts';
import type { Store } from '../../kube/cache/store.ts';
import { createLoop } from '../../kube/controller/loop.ts';
import type { HeldLease } from '../../kube/leader/held-lease.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { CommitStatusReport } from '../commits.ts';
import { createAcceptedRecord } from './accepted.ts';
import { type CommitStatus, desiredStatuses } from './desired-statuses.ts';
import { createSendFailures } from './failures.ts';
import { GIT_HOST_ADAPTERS } from './hosts/adapters.ts';
import { networkFailure, type SendFailure, sendFailure } from './outcome.ts';
import { planSend, withSent } from './plan.ts';
import { gitHostProblem } from './problem.ts';
import type { HostAnswer, HostRequest, SendOptions } from './send.ts';
import { type StatusTarget, statusTarget } from './target.ts';

export interface StatusReporterOptions {
  /** Returns the Pipeline as the hub has it. */
  readonly pipeline: () => Pipeline | undefined;
  readonly releases: () => readonly Release[];
  readonly secrets: Pick<Store, 'get'>;
  readonly lease: Pick<HeldLease, 'notHeldReason'>;
  readonly send: (request: HostRequest, options: SendOptions) => Promise<HostAnswer>;
  /** Records what the host accepted; undefined removes the record. `pipeline` returns it afterwards. */
  readonly record: (statuses: PipelineCommitStatuses | undefined) => Promise<void>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Is called when the report has changed. */
  readonly onChange: () => void;
}

export interface StatusReporter {
  /** Compares what the host has with what it should have, soon. Returns at once. */
  requeue(): void;
  /** Returns whether the host accepts the statuses; undefined: the Pipeline reports none. */
  report(): CommitStatusReport | undefined;
  close(): Promise<void>;
}

const GATHER_MS = 500;
/** The Pipeline is reconciled as often: a Lease that was lost and acquired again triggers nothing. */
const IDLE_MS = 15_000;
const RETRY_RECORD_MS = 5000;

export function createStatusReporter(options: StatusReporterOptions): StatusReporter {
  const { clock, log, onChange } = options;
  const closing = new AbortController();
  const failures = createSendFailures(options);
  let report: CommitStatusReport | undefined;
  const accepted = createAcceptedRecord<PipelineCommitStatuses>(options.record);
  const loop = createLoop({ clock, gatherMs: GATHER_MS, round });

  return {
    requeue: () => loop.trigger(),
    report: () => report,
    async close() {
      closing.abort(new Error('the repository was closed'));
      await loop.close();
    },
  };

  async function round(): Promise<number> {
    const pipeline = options.pipeline();
    if (!pipeline || options.lease.notHeldReason() !== undefined) {
      // Another process may send and record meanwhile: what it recorded counts when this one continues.
      accepted.forget();
      return IDLE_MS;
    }
    try {
      const target = statusTarget(pipeline, options.secrets);
      return target ? await sendNext(pipeline, target) : await removeRecord(pipeline);
    } catch (error) {
      if (closing.signal.aborted) return IDLE_MS;
      const problem = gitHostProblem(error);
      if (problem) return setReport({ problem });
      log.warn('commit statuses not recorded', { pipeline: pipeline.metadata.name, error });
      return RETRY_RECORD_MS;
    }
  }

  /** Sends one status at most: what the host should have may change meanwhile. */
  async function sendNext(pipeline: Pipeline, target: StatusTarget): Promise<number> {
    // Before anything else is sent: a hub that does not answer must not make us send the same again and again.
    await accepted.record();
    failures.keepOnlyOf(`${target.address} ${target.token}`);
    const waitMs = failures.hostWaitMs();
    if (waitMs > 0) return waitMs;
    const recorded = recordedAt(target, options.pipeline()?.status?.commitStatuses);
    const desired = desiredStatuses(pipeline, options.releases());
    const plan = planSend({ desired, recorded, blockedForMs: failures.blockedForMs(), now: clock.now() });
    failures.keepOnly(desired.map(({ commit }) => commit));
    if (!plan.next) {
      setReport(failures.report());
      return Math.min(IDLE_MS, plan.waitMs ?? IDLE_MS);
    }
    const failure = await sendStatus(plan.next, target, { ...options, signal: closing.signal });
    if (failure) return noteFailure(plan.next, failure, pipeline);
    failures.succeeded(plan.next.commit);
    await accepted.add({ address: target.address, commits: withSent(plan.kept, plan.next, clock.now()) });
    setReport(failures.report());
    return 0;
  }

  function noteFailure({ commit }: CommitStatus, failure: SendFailure, { metadata }: Pipeline): number {
    const before = report;
    const waitMs = failures.failed(commit, failure);
    setReport(failures.report());
    const { reason, message } = failure;
    if (before !== report) {
      log.warn('commit status not sent', { pipeline: metadata.name, commit, reason, message });
    }
    return waitMs;
  }

  async function removeRecord({ status }: Pipeline): Promise<number> {
    accepted.forget();
    setReport(undefined);
    if (status?.commitStatuses) await options.record(undefined);
    return IDLE_MS;
  }

  function setReport(next: CommitStatusReport | undefined): number {
    if (JSON.stringify(next) !== JSON.stringify(report)) {
      report = next;
      onChange();
    }
    return IDLE_MS;
  }
}

interface SendPorts extends Pick<StatusReporterOptions, 'send' | 'clock'> {
  readonly signal: AbortSignal;
}

async function sendStatus(
  status: CommitStatus,
  { project, token, ca }: StatusTarget,
  { send, clock, signal }: SendPorts,
): Promise<SendFailure | undefined> {
  const request = GIT_HOST_ADAPTERS[project.type].statusRequest(project, status, token);
  try {
    const answer = await send(request, { clock, signal, ...optional('ca', ca) });
    return sendFailure(answer, project, { token, now: clock.now() });
  } catch (error) {
    signal.throwIfAborted();
    return networkFailure(error, project);
  }
}

function recordedAt(
  { address }: StatusTarget,
  statuses: PipelineCommitStatuses | undefined,
): readonly SentCommitStatus[] {
  return statuses?.address === address ? (statuses.commits ?? []) : [];
}
