/**
 * Plans the open pull requests of a Pipeline one after the other, and writes each plan to the git host as one comment and one commit
 * status, while this process holds the Lease of the Pipeline. What the host accepted is recorded in the hub afterwards: a process that is
 * killed in between finds its comment by the marker, and writes the same again. Nothing else of sync waits for it.
 */
import type { Pipeline, PipelinePlanComments, PlannedPullRequest } from '../../api/generated/types.ts';
import type { Store } from '../../kube/cache/store.ts';
import { createLoop } from '../../kube/controller/loop.ts';
import type { HeldLease } from '../../kube/leader/held-lease.ts';
import { messageOf } from '../../os/errors.ts';
import type { CommitStatusReport } from '../commits.ts';
import { createAcceptedRecord } from '../report/accepted.ts';
import { createSendFailures } from '../report/failures.ts';
import type { SendFailure } from '../report/outcome.ts';
import { targetProblem } from '../report/problem.ts';
import { createPullHost, PullHostError, type PullHostPorts } from './host.ts';
import type { PullRequest } from './hosts/adapter.ts';
import { createOpenPulls } from './list.ts';
import { choosePull, withPlanned } from './plan.ts';
import { type PlanTarget, planTarget } from './target.ts';
import { createPlanWriter, type PlanWriterOptions } from './writer.ts';

export interface PlanCommenterOptions extends PlanWriterOptions, Pick<PullHostPorts, 'send'> {
  /** Returns the Pipeline as the hub has it. */
  readonly pipeline: () => Pipeline | undefined;
  readonly secrets: Pick<Store, 'get'>;
  readonly lease: Pick<HeldLease, 'notHeldReason'>;
  /** Returns the newest accepted commit. Undefined while it is not known. */
  readonly newestAccepted: () => string | undefined;
  /** Records the plans that the host has; undefined removes the record. `pipeline` returns it afterwards. */
  readonly record: (comments: PipelinePlanComments | undefined) => Promise<void>;
  readonly random: () => number;
  /** Is called when the report has changed. */
  readonly onChange: () => void;
}

export interface PlanCommenter {
  /** Looks for pull requests to plan, soon. Returns at once. */
  requeue(): void;
  /** Returns whether the plans are at the git host; undefined: the Pipeline plans no pull requests. */
  report(): CommitStatusReport | undefined;
  close(): Promise<void>;
}

const GATHER_MS = 500;
/** The Pipeline is reconciled as often: a Lease that was lost and acquired again triggers nothing. */
const IDLE_MS = 15_000;
const RETRY_RECORD_MS = 5000;
/** The failures of the list of pull requests: they have numbers. */
const LIST = 'list';

export function createPlanCommenter(options: PlanCommenterOptions): PlanCommenter {
  const { clock, log, onChange } = options;
  const closing = new AbortController();
  const failures = createSendFailures(options);
  const accepted = createAcceptedRecord<PipelinePlanComments>(options.record);
  const openPulls = createOpenPulls(options);
  const writer = createPlanWriter(options);
  let report: CommitStatusReport | undefined;
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
      // Another process may write and record meanwhile: what it recorded counts when this one continues.
      accepted.forget();
      return IDLE_MS;
    }
    try {
      const target = planTarget(pipeline, options.secrets);
      return target ? await writeNext(pipeline, target) : await removeRecord(pipeline);
    } catch (error) {
      if (closing.signal.aborted) return IDLE_MS;
      const problem = targetProblem(error);
      if (problem) return setReport({ problem });
      log.warn('plan of a pull request not recorded', { pipeline: pipeline.metadata.name, error });
      return RETRY_RECORD_MS;
    }
  }

  /** Writes one plan at most: what is open, and what it is compared with, may change meanwhile. */
  async function writeNext(pipeline: Pipeline, target: PlanTarget): Promise<number> {
    await accepted.record();
    failures.keepOnlyOf(`${target.address} ${target.token}`);
    const waitMs = failures.hostWaitMs();
    if (waitMs > 0) return waitMs;
    const base = options.newestAccepted();
    if (base === undefined) return IDLE_MS;
    const host = createPullHost(target, { ...options, signal: closing.signal, checkLease });
    const webhook = pipeline.status?.webhook?.receivedAt;
    const question = { host, branch: target.branch, address: target.address, webhook };
    const open = await attempt(LIST, pipeline, () => openPulls.read(question));
    if (!open) return failures.hostWaitMs();
    const recorded = recordedAt(target, options.pipeline());
    const choice = choosePull({
      open,
      recorded,
      base,
      forks: target.forks,
      blockedForMs: failures.blockedForMs(),
      now: clock.now(),
    });
    failures.keepOnly(open.map(({ number }) => String(number)));
    const { next, kept } = choice;
    if (!next) {
      if (kept.length < recorded.length)
        await accepted.add({ address: target.address, pullRequests: [...kept] });
      setReport(failures.report());
      return Math.min(IDLE_MS, openPulls.waitMs(webhook), choice.waitMs ?? IDLE_MS);
    }
    const pull = chosen(next, open);
    const before = recorded.find(({ number }) => number === pull.number);
    const job = { pipeline, target, host, pull, base, before };
    const planned = await attempt(String(pull.number), pipeline, () => writer.write(job, closing.signal));
    if (!planned) return failures.hostWaitMs();
    await accepted.add({ address: target.address, pullRequests: [...withPlanned(kept, planned)] });
    setReport(failures.report());
    return 0;
  }

  /** Prefers the one whose plan is made already, unless the host refused it. */
  function chosen(next: PullRequest, open: readonly PullRequest[]): PullRequest {
    const made = writer.unwritten(open);
    return made && !failures.blockedForMs().has(String(made.number)) ? made : next;
  }

  /** Returns undefined after a failure of the host, or of the plan, which is remembered. */
  async function attempt<T>(
    about: string,
    { metadata }: Pipeline,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      const done = await work();
      failures.succeeded(about);
      return done;
    } catch (error) {
      closing.signal.throwIfAborted();
      const failure = error instanceof PullHostError ? error.failure : notPlanned(about, error);
      const before = report;
      failures.failed(about, failure);
      setReport(failures.report());
      const { reason, message } = failure;
      if (before !== report) {
        log.warn('pull request not planned', { pipeline: metadata.name, about, reason, message });
      }
      return undefined;
    }
  }

  /** A plan takes minutes, and a Lease seconds. */
  function checkLease(): void {
    const reason = options.lease.notHeldReason();
    if (reason !== undefined) throw new Error(`the Lease of the Pipeline is not held: ${reason}`);
  }

  async function removeRecord({ status }: Pipeline): Promise<number> {
    accepted.forget();
    writer.forget();
    openPulls.forget();
    setReport(undefined);
    if (status?.planComments) await options.record(undefined);
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

/** Returns nothing for records of another address: comments there are found by their marker. */
function recordedAt({ address }: PlanTarget, pipeline: Pipeline | undefined): readonly PlannedPullRequest[] {
  const { planComments } = pipeline?.status ?? {};
  return planComments?.address === address ? (planComments.pullRequests ?? []) : [];
}

/** Git, a render or the hub gave no answer. */
function notPlanned(pull: string, error: unknown): SendFailure {
  const message = `pull request ${pull} is not planned: ${messageOf(error)}. Sync tries again`;
  return { reason: 'NotPlanned', message, isTemporary: true };
}
