/** Writes the plan that is due next to the git host, and records in the hub what the host accepted. */
import type { Pipeline, PipelinePlanComments, PlannedPullRequest } from '../../api/generated/types.ts';
import type { HeldLease } from '../../kube/leader/held-lease.ts';
import { messageOf } from '../../os/errors.ts';
import { createAcceptedRecord } from '../report/accepted.ts';
import type { HostCallPorts } from '../report/call.ts';
import { createSendFailures } from '../report/failures.ts';
import { IDLE_MS } from '../report/host-loop.ts';
import { HostCallError, type SendFailure } from '../report/outcome.ts';
import { credentialKey } from '../report/tokens/credential.ts';
import { createPullHost, type PullHost } from './host.ts';
import type { PullRequest } from './hosts/adapter.ts';
import { createOpenPulls } from './list.ts';
import { choosePull, withPlanned } from './plan.ts';
import type { PlanDestination } from './target.ts';
import { createPlanWriter, type PlanWriterOptions } from './writer.ts';

export interface NextPlanOptions extends PlanWriterOptions, Pick<HostCallPorts, 'send' | 'tokens'> {
  /** Returns the Pipeline as the hub has it. */
  readonly pipeline: () => Pipeline | undefined;
  readonly lease: Pick<HeldLease, 'notHeldReason'>;
  /** Returns the newest accepted commit. Undefined while it is not known. */
  readonly newestAccepted: () => string | undefined;
  /** Records the plans that the host has. `pipeline` returns it afterwards. */
  readonly record: (comments: PipelinePlanComments | undefined) => Promise<void>;
  readonly random: () => number;
}

export interface NextPlan extends Pick<ReturnType<typeof createSendFailures>, 'report'> {
  /**
   * Writes one plan at most: what is open, and what it is compared with, may change meanwhile. Resolves with how long to wait for the
   * next. Rejects when the hub does not take the record.
   */
  write(pipeline: Pipeline, target: PlanDestination): Promise<number>;
  /** Forgets what is not recorded: another process may write and record meanwhile. */
  forgetUnrecorded(): void;
  forget(): void;
}

/** The failures of the list of pull requests: they have numbers. */
const LIST = 'list';

export function createNextPlan(options: NextPlanOptions, signal: AbortSignal): NextPlan {
  const failures = createSendFailures(options);
  const accepted = createAcceptedRecord<PipelinePlanComments>(options.record);
  const openPulls = createOpenPulls(options);
  const writer = createPlanWriter(options);
  return {
    write,
    report: () => failures.report(),
    forgetUnrecorded: () => accepted.forget(),
    forget() {
      accepted.forget();
      openPulls.forget();
      writer.forget();
    },
  };

  async function write(pipeline: Pipeline, target: PlanDestination): Promise<number> {
    await accepted.record();
    failures.keepOnlyOf(`${target.address} ${credentialKey(target.credential)}`);
    const waitMs = failures.hostWaitMs();
    if (waitMs > 0) return waitMs;
    const base = options.newestAccepted();
    if (base === undefined) return IDLE_MS;
    const host = createPullHost(target, { ...options, signal });
    const webhook = pipeline.status?.webhook?.receivedAt;
    const { branch, forks } = target;
    const address = `${target.address} ${forks}`;
    const question = { host, branch, forks, address, webhook };
    const open = await attempt(LIST, () => openPulls.read(question));
    if (!open) return failures.hostWaitMs();
    failures.answered(LIST);
    return await writeOf({ pipeline, target, host, open, base });
  }

  async function writeOf({ pipeline, target, host, open, base }: PlanTurn): Promise<number> {
    const recorded = recordedAt(target, options.pipeline());
    const { forks } = target;
    const blockedForMs = failures.blockedForMs();
    const choice = choosePull({ open, recorded, base, forks, blockedForMs, now: options.clock.now() });
    failures.keepOnly(open.map(({ number }) => String(number)));
    const { next, kept } = choice;
    if (!next) {
      // What failed is not due any more: its pull request may be closed.
      failures.succeeded(LIST);
      if (kept.length < recorded.length) await accept(target, kept);
      const listMs = openPulls.waitMs(pipeline.status?.webhook?.receivedAt);
      return Math.min(IDLE_MS, listMs, choice.waitMs ?? IDLE_MS);
    }
    const pull = preferred(next, open);
    const before = recorded.find(({ number }) => number === pull.number);
    const job = { pipeline, target, host, pull, base, before };
    const planned = await attempt(String(pull.number), () => writer.write(job, signal));
    if (!planned) return failures.hostWaitMs();
    failures.succeeded(String(pull.number));
    await accept(target, withPlanned(kept, planned));
    return 0;
  }

  /** Prefers the one whose plan is made already, unless the host refused it. */
  function preferred(next: PullRequest, open: readonly PullRequest[]): PullRequest {
    const made = writer.unwritten(open);
    return made && !failures.blockedForMs().has(String(made.number)) ? made : next;
  }

  async function accept(
    { address }: PlanDestination,
    pullRequests: readonly PlannedPullRequest[],
  ): Promise<void> {
    await accepted.add({ address, pullRequests: [...pullRequests] });
  }

  /** Returns undefined without the Lease, and after a failure of the host or of the plan, which is remembered. */
  async function attempt<T>(about: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      // Another process goes on: this is not a failure.
      if (options.lease.notHeldReason() !== undefined) return undefined;
      failures.failed(about, error instanceof HostCallError ? error.failure : notPlanned(about, error));
      return undefined;
    }
  }
}

interface PlanTurn {
  readonly pipeline: Pipeline;
  readonly target: PlanDestination;
  readonly host: PullHost;
  readonly open: readonly PullRequest[];
  readonly base: string;
}

/** Returns nothing for records of another address: comments there are found by their marker. */
function recordedAt(
  { address }: PlanDestination,
  pipeline: Pipeline | undefined,
): readonly PlannedPullRequest[] {
  const { planComments } = pipeline?.status ?? {};
  return planComments?.address === address ? (planComments.pullRequests ?? []) : [];
}

/** Git, a render or the hub gave no answer. */
function notPlanned(pull: string, error: unknown): SendFailure {
  const message = `pull request ${pull} is not planned: ${messageOf(error)}. Sync tries again`;
  return { reason: 'NotPlanned', message, isTemporary: true };
}
