/**
 * Brings one component forward until it waits or has nothing left to do: observe, plan, record, operate. The journal
 * is the only memory; after a crash at any line the next reconcile continues from its last record.
 */
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import { OsError } from '../../os/errors.ts';
import type { Host } from '../host/port.ts';
import type { Downloads } from '../install/downloads.ts';
import { executeOperation, loadArtifact } from '../install/execute.ts';
import { withLastLines } from '../install/last-lines.ts';
import { observeComponent } from '../install/observe.ts';
import type { DigestReader } from '../install/programs.ts';
import { NO_DRIFT } from '../journal/drift.ts';
import type { Journal } from '../journal/journal.ts';
import { type ComponentProgress, NEVER } from '../journal/progress.ts';
import type { TargetReader } from '../target/store.ts';
import type { Target } from '../target/target.ts';
import { type DriftFinding } from './drift/plan.ts';
import type { ComponentInput } from './input.ts';
import type { ComponentObservation } from './observe.ts';
import type { ComponentAction, ComponentWait, HostOperation } from './operation.ts';
import { planComponent } from './plan.ts';
import { endsOf } from './transition/builders.ts';
import { hasStopped } from './transition/plan.ts';

export interface ComponentContext {
  readonly host: Host;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly digest: DigestReader;
  readonly readTarget: TargetReader;
  /** The downloads beside the loop. Without them each download is waited for. */
  readonly downloads?: Downloads;
  /** Handles an action: it is called after each one that was carried out. */
  readonly onAction: (action: ComponentAction) => void;
}

/** Holds what the agent knows besides the host and the journal. */
export type ComponentCircumstances = Pick<
  ComponentInput,
  | 'brakes'
  | 'changing'
  | 'component'
  | 'desired'
  | 'downloading'
  | 'failure'
  | 'others'
  | 'probation'
  | 'reinstall'
  | 'self'
>;

export interface ComponentResult {
  readonly progress: ComponentProgress;
  readonly observed: ComponentObservation;
  /** The target in force. */
  readonly target?: Target;
  readonly findings: readonly DriftFinding[];
  readonly wait?: ComponentWait;
  readonly failure?: FailedOperation;
}

export interface FailedOperation {
  readonly operation: HostOperation;
  readonly code: string;
  readonly message: string;
}

/** Carries out one plan: its operations and its record. `done` when nothing was left to do. */
export async function reconcileComponent(
  context: ComponentContext,
  circumstances: ComponentCircumstances,
): Promise<ComponentResult & { readonly done: boolean }> {
  const input = await readInput(context, circumstances);
  const { actions, wait, findings } = planComponent(input);
  const ended = await carryOut(context, actions, input);
  const failure = ended === 'Running' ? undefined : ended;
  const progress = progressOf(context.journal, circumstances.component);
  return {
    progress,
    observed: input.observed,
    findings,
    ...optional('target', input.targets.get(input.progress.current ?? '')),
    done: actions.length === 0,
    ...(wait && { wait }),
    ...(failure && { failure }),
  };
}

async function readInput(
  { host, journal, clock, digest, readTarget }: ComponentContext,
  circumstances: ComponentCircumstances,
): Promise<ComponentInput> {
  const progress = progressOf(journal, circumstances.component);
  const targets = await readTargets(readTarget, progress);
  const { component } = circumstances;
  const drift = journal.state().drift.get(component) ?? NO_DRIFT;
  const input = { ...circumstances, progress, targets, drift, now: clock.now() };
  const observed = await observeComponent(host, component, { targets: observedTargets(input), digest });
  return { ...input, observed };
}

export function progressOf(journal: Journal, component: string): ComponentProgress {
  const known = journal.state().components.get(component);
  return known ?? { component, state: 'Absent', denied: [], history: [], since: NEVER };
}

async function readTargets(
  readTarget: TargetReader,
  progress: ComponentProgress,
): Promise<ReadonlyMap<string, Target>> {
  const { current, transition } = progress;
  const targets = new Map<string, Target>();
  for (const id of new Set([current, transition?.from, transition?.to])) {
    const target = id === undefined ? undefined : await readTarget(id);
    if (target) targets.set(target.id, target);
  }
  return targets;
}

/** Returns the targets to observe. The one that the host should have now comes first: units are compared with it. */
function observedTargets(input: Omit<ComponentInput, 'observed'>): readonly Target[] {
  const { transition, current } = input.progress;
  const inForce = current === undefined ? undefined : input.targets.get(current);
  const { goal, origin } = transition
    ? endsOf(input, transition)
    : { goal: input.desired.state === 'Present' ? input.desired.target : undefined, origin: undefined };
  const ordered = transition && hasStopped(transition) ? [goal, origin, inForce] : [inForce, goal, origin];
  const known = ordered.filter((each) => each !== undefined);
  return [...new Map(known.map((each) => [each.id, each])).values()];
}

async function carryOut(
  context: ComponentContext,
  actions: readonly ComponentAction[],
  input: ComponentInput,
): Promise<FailedOperation | 'Running' | undefined> {
  const { host, journal, onAction } = context;
  const { transition } = input.progress;
  const failed = transition && endsOf(input, transition).goal;
  for (const action of actions) {
    if (action.type === 'Record') {
      await journal.append(await withLastLines(action.record, transition, { units: host.units, failed }));
    } else {
      const ended = await tryOperation(context, action.operation);
      if (ended) return ended;
    }
    onAction(action);
  }
  return undefined;
}

async function load(host: Host, downloads: Downloads, target: Target): Promise<'Running' | undefined> {
  const sha256 = target.artifact?.sha256 ?? '';
  const state = await downloads.load(sha256, (terms) => loadArtifact(host, target, terms));
  return state === 'Running' ? state : undefined;
}

/** Carries out an operation. Running: the rest of the plan waits for the download. */
async function tryOperation(
  { host, downloads }: ComponentContext,
  operation: HostOperation,
): Promise<FailedOperation | 'Running' | undefined> {
  try {
    if (operation.op === 'Download' && downloads) return await load(host, downloads, operation.target);
    await executeOperation(host, operation);
    return undefined;
  } catch (error) {
    // Only errors of the host are answers. Anything else is a fault of the agent itself and ends the reconcile.
    if (!(error instanceof OsError)) throw error;
    const { code, message, hint } = error as OsError<string>;
    return { operation, code, message: hint === undefined ? message : `${message}: ${hint}` };
  }
}
