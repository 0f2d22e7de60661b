/** Decides what keeps a staged component from being activated. In doubt it stays staged. Pure. */
import { changeBetween, isClassAtLeast } from '../../api/machine/component-change.ts';
import { DRAIN_PENDING } from '../../api/machine/drain-wait.ts';
import type { Transition } from '../journal/record.ts';
import { AGENT_COMPONENT } from '../layout.ts';
import type { Target } from '../target/target.ts';
import type { ComponentInput, EntryGrant } from './input.ts';
import type { ComponentWait } from './operation.ts';
import { endsOf } from './transition/builders.ts';
import { unmetDependencies } from './transition/dependencies.ts';
import { activationClass } from './transition/foreign.ts';

type Brake = (input: ComponentInput, transition: Transition) => ComponentWait | undefined;

/** The brakes in order: the first one that holds is reported. */
const BRAKES: readonly Brake[] = [
  holdBrake,
  offlineBrake,
  jobBrake,
  changingBrake,
  dependencyBrake,
  dependentBrake,
  wayBackBrake,
  grantBrake,
  drainBrake,
];

export function activationWait(input: ComponentInput, transition: Transition): ComponentWait | undefined {
  for (const brake of BRAKES) {
    const wait = brake(input, transition);
    if (wait) return wait;
  }
  return undefined;
}

function holdBrake({ brakes }: ComponentInput): ComponentWait | undefined {
  if (brakes.hold === 'None') return undefined;
  return {
    reason: 'Held',
    message: 'the machine is held: remove spec.hold and the hold annotations to continue',
  };
}

function offlineBrake({ brakes }: ComponentInput): ComponentWait | undefined {
  if (brakes.online) return undefined;
  return {
    reason: 'Offline',
    message: 'the API server does not answer: nothing new is started before it does',
  };
}

function jobBrake({ brakes }: ComponentInput): ComponentWait | undefined {
  return brakes.jobRunning
    ? { reason: 'JobRunning', message: 'a repair job is running on this machine' }
    : undefined;
}

/**
 * Keeps a change of the agent and another change apart: what a new agent breaks, and what it finds broken, must not be confused with the
 * other one.
 */
function changingBrake({ component, changing }: ComponentInput): ComponentWait | undefined {
  if (changing === undefined || ![component, changing].includes(AGENT_COMPONENT)) return undefined;
  return { reason: 'ComponentChanging', message: `waits until the change of ${changing} has ended` };
}

function dependencyBrake(input: ComponentInput, transition: Transition): ComponentWait | undefined {
  const { goal } = endsOf(input, transition);
  const [unmet] = goal ? unmetDependencies(goal, input.others) : [];
  if (!unmet) return undefined;
  const found = unmet.version === undefined ? 'is not committed' : `has version ${unmet.version}`;
  return { reason: 'DependencyNotCommitted', message: `waits for ${unmet.needed}, which ${found}` };
}

/** Keeps a component from being removed before those that depend on it. */
function dependentBrake(
  { component, others }: ComponentInput,
  { to }: Transition,
): ComponentWait | undefined {
  if (to !== undefined) return undefined;
  const dependents = [...others]
    .filter(([, other]) => other.dependsOn.includes(component))
    .map(([name]) => name);
  if (dependents.length === 0) return undefined;
  return { reason: 'StillNeeded', message: `${dependents.join(', ')} depends on it: remove that first` };
}

/** Requires that the version to return to is complete on this host before anything stops. */
function wayBackBrake(input: ComponentInput, transition: Transition): ComponentWait | undefined {
  const { origin, goal } = endsOf(input, transition);
  if (transition.from === undefined || goal?.rollbackSupported === false) return undefined;
  if (origin && isOnHost(origin, input)) return undefined;
  return {
    reason: 'NoWayBack',
    message:
      'the installed version is not complete on this host, so that a rollback would fail. It is restored first',
  };
}

function isOnHost({ artifact, directory }: Target, { observed }: ComponentInput): boolean {
  return (
    !artifact || observed.directories.has(directory) || observed.artifacts.get(artifact.sha256) === 'Complete'
  );
}

function grantBrake({ desired }: ComponentInput, { to }: Transition): ComponentWait | undefined {
  if (desired.state !== 'Present' && desired.state !== 'Absent') return undefined;
  const id = desired.state === 'Present' ? to : desired.id;
  const because = grantProblem(desired.grant, id);
  return because === undefined ? undefined : { reason: 'GrantNeeded', message: because };
}

function grantProblem(grant: EntryGrant | undefined, id: string | undefined): string | undefined {
  if (!grant) return 'staged: waits for a grant';
  if (grant.entryDigest !== id) {
    return `the grant ${grant.id} is for another content of the entry: waits for a new one`;
  }
  return grant.expired ? `the grant ${grant.id} has expired: waits for a new one` : undefined;
}

/** Waits for the drain that the change needs. A new component has no pods to disturb: its change has a lower class. */
function drainBrake(input: ComponentInput, transition: Transition): ComponentWait | undefined {
  const { origin, goal } = endsOf(input, transition);
  const change = changeBetween(origin, goal);
  const grant =
    input.desired.state === 'Present' || input.desired.state === 'Absent' ? input.desired.grant : undefined;
  if (
    !isClassAtLeast(activationClass(input, { origin, goal }), 'Drain') ||
    (grant && input.brakes.drainedFor === grant.id)
  ) {
    return undefined;
  }
  return {
    reason: DRAIN_PENDING,
    message: `waits until the machine is drained for grant ${grant?.id ?? ''}: ${change.because}`,
  };
}
