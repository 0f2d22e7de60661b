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
import { createAcceptedRecord } from './accepted.ts';
import { createHostCall, type HostCallPorts } from './call.ts';
import { type CommitStatus, desiredStatuses } from './desired-statuses.ts';
import { createSendFailures } from './failures.ts';
import { createHostLoop, type HostLoop, type HostLoopOptions, IDLE_MS } from './host-loop.ts';
import { GIT_HOST_ADAPTERS } from './hosts/adapters.ts';
import { HostCallError, type SendFailure, statusTask } from './outcome.ts';
import { planSend, withSent } from './plan.ts';
import { type StatusTarget, statusTarget } from './target.ts';
import { credentialKey } from './tokens/credential.ts';

export interface StatusReporterOptions extends HostLoopOptions, Pick<HostCallPorts, 'send' | 'tokens'> {
  readonly releases: () => readonly Release[];
  readonly secrets: Pick<Store, 'get'>;
  /** Records what the host accepted; undefined removes the record. `pipeline` returns it afterwards. */
  readonly record: (statuses: PipelineCommitStatuses | undefined) => Promise<void>;
  readonly random: () => number;
}

/** Reports whether the host accepts the statuses; undefined: the Pipeline reports none. */
export type StatusReporter = Pick<HostLoop, 'requeue' | 'report' | 'close'>;

export function createStatusReporter(options: StatusReporterOptions): StatusReporter {
  const { clock, log } = options;
  const failures = createSendFailures(options);
  const accepted = createAcceptedRecord<PipelineCommitStatuses>(options.record);
  const loop = createHostLoop(options, {
    what: 'commit statuses',
    forgetUnrecorded: () => accepted.forget(),
    async step(pipeline) {
      const target = statusTarget(pipeline, options.secrets);
      return target ? await sendNext(pipeline, target) : await removeRecord(pipeline);
    },
  });
  return loop;

  /** Sends one status at most: what the host should have may change meanwhile. */
  async function sendNext(pipeline: Pipeline, target: StatusTarget): Promise<number> {
    // Before anything else is sent: a hub that does not answer must not make us send the same again and again.
    await accepted.record();
    failures.keepOnlyOf(`${target.address} ${credentialKey(target.credential)}`);
    const waitMs = failures.hostWaitMs();
    if (waitMs > 0) return waitMs;
    const recorded = recordedAt(target, options.pipeline()?.status?.commitStatuses);
    const desired = desiredStatuses(pipeline, options.releases());
    const plan = planSend({ desired, recorded, blockedForMs: failures.blockedForMs(), now: clock.now() });
    failures.keepOnly(desired.map(({ commit }) => commit));
    if (!plan.next) {
      loop.setReport(failures.report());
      return Math.min(IDLE_MS, plan.waitMs ?? IDLE_MS);
    }
    const failure = await sendStatus(plan.next, target, { ...options, signal: loop.signal });
    if (failure === 'NotHeld') return IDLE_MS;
    if (failure) return noteFailure(plan.next, failure, pipeline);
    failures.succeeded(plan.next.commit);
    await accepted.add({ address: target.address, commits: withSent(plan.kept, plan.next, clock.now()) });
    loop.setReport(failures.report());
    return 0;
  }

  function noteFailure({ commit }: CommitStatus, failure: SendFailure, { metadata }: Pipeline): number {
    const before = loop.report();
    const waitMs = failures.failed(commit, failure);
    loop.setReport(failures.report());
    const { reason, message } = failure;
    if (before !== loop.report()) {
      log.warn('commit status not sent', { pipeline: metadata.name, commit, reason, message });
    }
    return waitMs;
  }

  async function removeRecord({ status }: Pipeline): Promise<number> {
    accepted.forget();
    loop.setReport(undefined);
    if (status?.commitStatuses) await options.record(undefined);
    return IDLE_MS;
  }
}

/** Sends nothing when the Lease was lost: another process may have sent a newer status. */
async function sendStatus(
  status: CommitStatus,
  target: StatusTarget,
  ports: HostCallPorts,
): Promise<SendFailure | 'NotHeld' | undefined> {
  const { project } = target;
  const adapter = GIT_HOST_ADAPTERS[project.type];
  const call = createHostCall(target, ports);
  try {
    await call(({ token }) => adapter.statusRequest(project, status, token), statusTask(project));
    return undefined;
  } catch (error) {
    ports.signal.throwIfAborted();
    if (error instanceof HostCallError) return error.failure;
    if (ports.lease.notHeldReason() !== undefined) return 'NotHeld';
    throw error;
  }
}

function recordedAt(
  { address }: StatusTarget,
  statuses: PipelineCommitStatuses | undefined,
): readonly SentCommitStatus[] {
  return statuses?.address === address ? (statuses.commits ?? []) : [];
}
