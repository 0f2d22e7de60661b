/** Gives the host of a Machine that is deleted back, over SSH. The deletion waits for it, and ends without it after its time limit. */
import type { Machine } from '../../../../api/generated/types.ts';
import { EVENT_PREFIX, MANAGER_MACHINE } from '../../../../api/names.ts';
import type { ReconcileContext } from '../../../../kube/controller/reconcile-context.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { Counter } from '../../../../kube/process/metrics.ts';
import type { RemovalWait } from '../../instance/removal.ts';
import type { ImportStepResult } from '../plan.ts';
import { type ImportReleaseInput, planImportRelease, type ReleaseResult } from '../release.ts';
import { retryAt, stepFailure } from './failures.ts';
import { type ImportParts, withHost } from './steps.ts';
import type { HostWork } from './work.ts';

/** The attempt of releases: a change of the spec does not start another one. */
export const RELEASE_ATTEMPT = 'release';

export type HostResult = ImportStepResult | (ReleaseResult & { readonly step: 'Release' });
export type CleanupCounter = Counter<'reason'>;

interface Release {
  readonly parts: ImportParts | undefined;
  readonly work: HostWork<HostResult> | undefined;
  readonly incomplete: CleanupCounter | undefined;
  /** The UIDs of the Machines with a reported incomplete cleanup: a deletion asks again until it ends. */
  readonly reported: Set<string>;
  readonly context: ReconcileContext;
}

const LIMIT_MS = 900_000;
/** How often a release that waits for a process or a host is looked at, at the latest. */
const CHECK_MS = 30_000;

/** How far a release is. Incomplete: it ended, and something may be left on the host. */
export type HostReleaseState = 'Released' | 'Incomplete' | RemovalWait;

export function releaseImportedHost(machine: Machine, scope: Release): HostReleaseState {
  const decision = planImportRelease(observeRelease(machine, scope));
  const { because } = decision;
  if (decision.type === 'Done') return 'Released';
  if (decision.type === 'GiveUp') {
    tellIncomplete(machine, [decision.reason, because], scope);
    return 'Incomplete';
  }
  const { clock } = scope.context;
  const requeueAt = new Date(clock.now().getTime() + CHECK_MS);
  if (decision.type === 'Wait') {
    return { reason: decision.reason, message: because, requeueAt: decision.until ?? requeueAt };
  }
  start(machine, scope);
  return { reason: 'Releasing', message: because, requeueAt };
}

function observeRelease(machine: Machine, { parts, work, context }: Release): ImportReleaseInput {
  const { uid = '' } = machine.metadata;
  const found = work?.result(uid, RELEASE_ATTEMPT);
  return {
    machine,
    isOpen: parts !== undefined,
    isRunning: work?.isRunning(uid) === true,
    ...optional('result', found?.step === 'Release' ? found : undefined),
    now: context.clock.now(),
  };
}

function tellIncomplete(
  machine: Machine,
  [reason, because]: readonly [reason: string, because: string],
  { incomplete, work, reported, context }: Release,
): void {
  const { uid = '' } = machine.metadata;
  if (reported.has(uid)) return;
  reported.add(uid);
  work?.abort(uid);
  incomplete?.add({ reason });
  context.log.warn('host cleanup incomplete', { machine: machine.metadata.name, reason, because });
  context.event(machine, {
    type: 'Warning',
    reason: `${EVENT_PREFIX[MANAGER_MACHINE]}CleanupIncomplete`,
    action: 'Release',
    note: `${reason}: ${because}`,
  });
}

function start(machine: Machine, { parts, work, context }: Release): void {
  if (!parts || context.signal.aborted) return;
  const { name, uid = '' } = machine.metadata;
  const { cleanup } = machine.spec.deletion;
  const { log } = context;
  log.info('host release started', { machine: name, cleanup });
  work?.start({
    machine: name,
    uid,
    attempt: RELEASE_ATTEMPT,
    limitMs: LIMIT_MS,
    run: async (signal) => {
      const { left } = await withHost(machine, parts, signal, (host) => host.release(cleanup));
      log.info('host released', { machine: name, cleanup, left });
      return { step: 'Release', left };
    },
    failed: (error, failures) => {
      const failure = stepFailure(machine, error);
      log.warn('host release failed', {
        machine: name,
        reason: failure.reason,
        message: failure.message,
        failures,
      });
      return { step: 'Release', failure, retryAt: retryAt(failure, failures, parts) };
    },
    hasFailed: ({ failure }) => failure !== undefined,
  });
}
