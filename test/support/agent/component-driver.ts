/** Runs the reconcile of one component on a memory host to its end, as the agent's loop does, with probes that answer at once. */
import type {
  ActivationBrakes,
  DesiredComponent,
  OperationFailure,
  ProbationProgress,
} from '../../../src/agent/component/input.ts';
import type { ComponentAction, ComponentWait } from '../../../src/agent/component/operation.ts';
import { progressOf, reconcileComponent } from '../../../src/agent/component/reconcile.ts';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { Host } from '../../../src/agent/host/port.ts';
import { createDigestReader } from '../../../src/agent/install/programs.ts';
import { openJournal } from '../../../src/agent/journal/journal.ts';
import type { ComponentProgress } from '../../../src/agent/journal/progress.ts';
import type { TransitionFailure } from '../../../src/agent/journal/record.ts';
import { AGENT_COMPONENT } from '../../../src/agent/layout.ts';
import { createTargetReader } from '../../../src/agent/target/store.ts';
import type { Target } from '../../../src/agent/target/target.ts';
import { observeSelf } from '../../../src/agent/upgrade/observe-self.ts';
import type { AgentSelf } from '../../../src/agent/upgrade/self.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import type { Clock } from '../../../src/os/clock.ts';
import { virtualClock } from '../virtual-clock.ts';
import { artifactUrl, programOf } from './targets.ts';

export const FREE: ActivationBrakes = { hold: 'None', online: true, jobRunning: false };

const HEALTHY: ProbationProgress = { elapsedMs: 3_600_000, passingMs: 3_600_000, pending: [] };

export function createProxyHost(clock: Clock = virtualClock(), versions = ['1.0', '1.1', '1.2']): MemoryHost {
  const artifacts = new Map(versions.map((version) => [artifactUrl(version), programOf(version)]));
  return createMemoryHost({ clock, artifacts });
}

export function present(target: Target): DesiredComponent {
  return {
    state: 'Present',
    target,
    grant: { id: `grant-${target.version}`, entryDigest: target.id, expired: false },
  };
}

export function absent(id = 'sha256:absent'): DesiredComponent {
  return { state: 'Absent', id, grant: { id: 'grant-absent', entryDigest: id, expired: false } };
}

const USUAL = { brakes: FREE, probation: (): ProbationProgress => HEALTHY, clock: virtualClock() };

export interface DriveOptions {
  readonly brakes?: ActivationBrakes;
  /** What the probes say about the version that runs. */
  readonly probation?: (progress: ComponentProgress) => ProbationProgress | undefined;
  readonly clock?: Clock;
  /** The agent that drives its own component. */
  readonly self?: AgentSelf;
}

export interface DriveResult {
  readonly progress: ComponentProgress;
  readonly wait: ComponentWait | undefined;
  readonly actions: readonly ComponentAction[];
}

/** One life of an agent process: opens the journal and reconciles until the component waits or is done. */
export async function drive(
  host: Host,
  desired: DesiredComponent,
  options: DriveOptions = {},
): Promise<DriveResult> {
  const { brakes, probation, clock, self } = { ...USUAL, ...options };
  const component = self ? AGENT_COMPONENT : COMPONENT;
  const journal = await openJournal(host.files);
  const actions: ComponentAction[] = [];
  const digest = createDigestReader(host.files);
  const context = {
    host,
    journal,
    clock,
    digest,
    readTarget: createTargetReader(host.files),
    onAction: (action: ComponentAction) => void actions.push(action),
  };
  let failure: OperationFailure | undefined;
  for (let rounds = 0; rounds < MAX_ROUNDS; rounds += 1) {
    const result = await reconcileComponent(context, {
      component,
      desired,
      brakes,
      others: new Map(),
      ...optional('failure', failure),
      ...optional('self', self && (await observeSelf(host, self))),
      ...optional('probation', probation(progressOf(journal, component))),
    });
    if (result.done) return { ...result, wait: result.wait, actions };
    // A real agent waits between two attempts; here the second failure ends the drive.
    if (isRepeated(result.failure, failure)) return { ...result, wait: RETRY, actions };
    failure = result.failure && { ...result.failure, retryAt: new Date(0) };
  }
  throw new Error(`not settled: ${JSON.stringify(progressOf(journal, component))}`);
}

function isRepeated(failure: TransitionFailure | undefined, before: TransitionFailure | undefined): boolean {
  return failure !== undefined && failure.message === before?.message;
}

const COMPONENT = 'proxy';
const MAX_ROUNDS = 60;
const RETRY: ComponentWait = { reason: 'RetryPending', message: 'the same operation failed twice' };
