/**
 * Plans the activation of the agent itself: instead of stopping, swapping and starting, the agent hands over to a watchdog and settles by
 * its verdict. The agent that reads the verdict may be the old one or the new one. Pure.
 */
import { optional } from '../../../kube/objects/optional.ts';
import type { Transition, TransitionFailure } from '../../journal/record.ts';
import type { Target } from '../../target/target.ts';
import { upgradeKey } from '../../upgrade/proof.ts';
import { programOf, type SelfObservation } from '../../upgrade/self.ts';
import type { AgentUpgrade } from '../../upgrade/slots.ts';
import type { ComponentInput } from '../input.ts';
import type { ComponentAction, ComponentPlan } from '../operation.ts';
import { operate, swapActions } from '../placements.ts';
import { componentWait, endsOf, settle } from './builders.ts';

/** The limit of the memory of the new agent, the same as MemoryMax in the systemd unit of the agent. */
const MAX_RESIDENT_BYTES = 256 * 1024 ** 2;

export function planHandOver(input: ComponentInput, transition: Transition): ComponentPlan {
  const { self } = input;
  const { goal } = endsOf(input, transition);
  if (!self) return componentWait('InvalidEntry', 'this agent cannot replace itself');
  if (!goal) return damagedPlan(input, transition, self);
  if (transition.reinstall !== undefined) return reinstall(input, goal, transition.reinstall);
  const attempt = { self, goal, key: upgradeKey(input.progress) ?? '' };
  return verdictPlan(input, transition, attempt) ?? retryWait(input) ?? watchPlan(input, attempt);
}

interface Attempt {
  readonly self: SelfObservation;
  readonly goal: Target;
  readonly key: string;
}

/** Plans what follows from a verdict. A verdict of an earlier attempt does not count. The version that runs already needs none. */
function verdictPlan(
  input: ComponentInput,
  transition: Transition,
  { self, goal, key }: Attempt,
): ComponentPlan | undefined {
  const { upgrade, last } = self.slots;
  if (last?.key === key) {
    return last.result === 'Committed'
      ? committed(input, transition, goal)
      : rolledBack(input, transition, last.failure);
  }
  const runsAlready = self.program === programOf(self, goal) && upgrade?.key !== key;
  return runsAlready ? committed(input, transition, goal) : undefined;
}

function retryWait({ failure, now }: ComponentInput): ComponentPlan | undefined {
  return failure && failure.retryAt > now ? componentWait('RetryPending', failure.message) : undefined;
}

function watchPlan(input: ComponentInput, attempt: Attempt): ComponentPlan {
  const { self, goal, key } = attempt;
  if (self.slots.upgrade?.key === key && self.isWatched) {
    return probationWait(self.program === programOf(self, goal), goal);
  }
  const upgrade = upgradeTo(input, attempt);
  const because = `the watchdog starts version ${goal.version}`;
  return { actions: [operate({ op: 'HandOver', upgrade }, because)] };
}

/** Returns the wait for the watchdog. Both agents wait for it; only the new one is on probation. */
function probationWait(isOwn: boolean, { version }: Target): ComponentPlan {
  return isOwn
    ? componentWait('SelfProbation', `version ${version} of the agent proves that it is healthy`)
    : componentWait('HandedOver', `the watchdog replaces this agent with version ${version}`);
}

function committed(input: ComponentInput, transition: Transition, goal: Target): ComponentPlan {
  const { from, to } = transition;
  const { origin } = endsOf(input, transition);
  const because = `version ${goal.version} of the agent is healthy`;
  const operations = [...swapActions(origin, goal, input.observed), endOperation(because)];
  return settle(input, { state: 'Committed', current: to, previous: from, because }, { operations });
}

/** Settles an upgrade that the watchdog rolled back. The watchdog changed only which program runs: `current` still is the old version. */
function rolledBack(
  input: ComponentInput,
  { from, entry }: Transition,
  failure: TransitionFailure | undefined,
): ComponentPlan {
  const because = failure?.message ?? 'the new version of the agent failed';
  const end = { state: 'RolledBack', current: from, because } as const;
  return settle(input, end, {
    operations: [endOperation(because)],
    denied: entry,
    ...optional('failure', failure),
  });
}

/**
 * Plans for a version whose stored content cannot be read. It does not matter to a watchdog that has begun; without one nothing was
 * changed.
 */
function damagedPlan(
  input: ComponentInput,
  transition: Transition,
  { slots }: SelfObservation,
): ComponentPlan {
  const { from, to } = transition;
  if (slots.upgrade) return componentWait('HandedOver', 'the watchdog replaces this agent');
  if (slots.last?.result === 'Committed' && slots.last.key === upgradeKey(input.progress)) {
    const because = 'the new version of the agent is healthy';
    const end = { state: 'Committed', current: to, previous: from, because } as const;
    return settle(input, end, { operations: [endOperation(because)] });
  }
  const message = 'the stored content of the version cannot be read';
  return rolledBack(input, transition, { code: 'TargetDamaged', message });
}

/** Places the files of the agent again and nothing else: what is in the memory of this process is right. */
function reinstall(input: ComponentInput, goal: Target, reinstalled: string): ComponentPlan {
  const because = 'the files of the agent are installed again';
  const operations = [operate({ op: 'Unpack', target: goal }, because)];
  return settle(input, { state: 'Committed', current: goal.id, because }, { operations, reinstalled });
}

function endOperation(because: string): ComponentAction {
  return operate({ op: 'EndHandOver' }, because);
}

function upgradeTo({ observed, progress }: ComponentInput, { self, goal, key }: Attempt): AgentUpgrade {
  // What a watchdog began is continued by the next one.
  if (self.slots.upgrade?.key === key) return self.slots.upgrade;
  return {
    key,
    version: goal.version,
    from: self.program,
    to: programOf(self, goal),
    launch: self.launch,
    replaces: self.identity,
    limits: {
      healthySeconds: self.healthySeconds,
      holdSeconds: goal.commitAfterSeconds,
      maxResidentBytes: MAX_RESIDENT_BYTES,
    },
    step: 'Starting',
    bootId: progress.transition?.bootId ?? observed.bootId,
    boots: 0,
  };
}
