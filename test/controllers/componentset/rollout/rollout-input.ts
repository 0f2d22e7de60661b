/** Inputs of the planner for tests: machines at revisions, without the objects that they are read from. */
import type { Check, GateRuns, LedgerGrant, Machine, Rollout } from '../../../../src/api/generated/types.ts';
import { recordGate } from '../../../../src/controllers/componentset/gate-in-force.ts';
import type { MemberState } from '../../../../src/controllers/componentset/machine/member-state.ts';
import { type Revision, revisionOf } from '../../../../src/controllers/componentset/revision/resolve.ts';
import type {
  OpenBatch,
  RolloutInput,
  RolloutProgress,
} from '../../../../src/controllers/componentset/rollout/input.ts';
import type { GateResult } from '../../../../src/rollout/checks/gate.ts';
import { ago, component, machine, NOW } from '../../../support/builders.ts';
import { componentSet, ROLLOUT } from '../component-set.ts';
import { ownEntries } from '../managed-fields.ts';

export function appRevision(version: string): Revision {
  return revisionOf([{ ...component('app', version), state: 'Present', parameters: {} }]);
}

export const OLD = appRevision('1');
export const NEW = appRevision('2');

export interface StateParts extends Partial<Omit<MemberState, 'revision' | 'machine'>> {
  /** Whose entries it has; default: OLD. */
  readonly at?: Revision | 'None';
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: only while nothing is in work. */
  readonly serves?: boolean;
}

/** Settled at OLD, and serving. */
export function member(name: string, parts: StateParts = {}): MemberState {
  const { at = OLD, labels = {}, serves: _, ...more } = parts;
  const isUnassigned = at === 'None';
  return {
    name,
    uid: `uid-${name}`,
    machine: machineAt(name, at, labels),
    step: isUnassigned ? 'Unassigned' : 'Settled',
    reason: isUnassigned ? 'Unassigned' : 'Settled',
    because: '',
    pinned: [],
    readiness: 'Ready',
    isEstablished: true,
    isSilent: false,
    ...outOfService(parts),
    holdsGrant: false,
    ...(isUnassigned ? {} : { revision: at.name }),
    ...more,
  };
}

function outOfService({ serves, step = 'Settled' }: StateParts): Pick<MemberState, 'unavailable'> {
  return (serves ?? step === 'Settled') ? {} : { unavailable: 'out of service' };
}

function machineAt(name: string, at: Revision | 'None', labels: Readonly<Record<string, string>>): Machine {
  const components = at === 'None' ? [] : at.components;
  const managedFields = [ownEntries(...components.map((each) => each.name))];
  return machine(name, { metadata: { labels, managedFields }, spec: { components } });
}

export function grant(more: Partial<LedgerGrant> = {}): LedgerGrant {
  return {
    id: 'g-1',
    fence: 1,
    state: 'Started',
    holder: { kind: 'MachineComponentSet', name: 'general' },
    action: 'UpdateComponent',
    risk: 'Pod',
    issuedAt: ago(60),
    notAfter: ago(-240),
    ...more,
  };
}

export const BATCH: OpenBatch = { index: 1, size: 2, total: 10, startedAt: new Date(ago(600)) };
export const COMPLETED = { revision: OLD.name, result: 'Completed' } as const;

/** From OLD to NEW, in batch 1. */
export function progressOf(more: Partial<RolloutProgress> = {}): RolloutProgress {
  return { updateRevision: NEW.name, batch: BATCH, history: [COMPLETED], ...more };
}

/** A check that asks Prometheus. */
export function askingCheck(name: string, more: Partial<Check> = {}): Check {
  return {
    name,
    promql: { query: 'up', min: 1 },
    intervalSeconds: 30,
    failureLimit: 0,
    inconclusiveLimit: 3,
    consecutiveSuccess: 1,
    ...more,
  };
}

/** What is remembered of a check whose gate is so. */
function runsOf(gate: GateResult): readonly GateRuns[] {
  if (!('because' in gate)) return [];
  const { state, check: name, because } = gate;
  const message = because.replace(`check ${name}: `, '');
  return state === 'Failed'
    ? [{ name, ranAt: ago(5), result: 'Failed', failures: 1, message }]
    : [{ name, ranAt: ago(5), result: 'Unknown', inconclusive: 4, message }];
}

export interface InputParts extends Partial<Omit<RolloutInput, 'set'>> {
  readonly rollout?: Partial<Rollout>;
  readonly paused?: boolean;
  readonly retryToken?: string;
  /** The set has a check, and the open batch such runs of it. */
  readonly gate?: GateResult;
}

export function inputOf({
  rollout = {},
  paused = false,
  retryToken,
  gate,
  progress = progressOf(),
  ...parts
}: InputParts = {}): RolloutInput {
  const spec = { paused, ...(retryToken === undefined ? {} : { retryToken }) };
  return {
    set: componentSet('general', {
      spec,
      rollout: { ...ROLLOUT, maxUnavailable: 5, ...rolloutWith(rollout, gate) },
    }),
    desired: { revision: NEW, yanked: [] },
    stable: OLD,
    progress: gate ? withRuns(progress, runsOf(gate)) : progress,
    members: [],
    left: [],
    deleted: [],
    runs: [],
    classOf: () => 'Restart',
    now: NOW,
    ...parts,
  };
}

/** Of a set whose gate was observed before. */
export function observedInput(parts: InputParts = {}): RolloutInput {
  const input = inputOf(parts);
  return { ...input, progress: recordGate(input, input.progress) };
}

function rolloutWith(rollout: Partial<Rollout>, gate: GateResult | undefined): Partial<Rollout> {
  if (!gate || gate.state === 'Open') return rollout;
  const check = askingCheck('check' in gate ? gate.check : 'errors');
  return { ...rollout, gate: { ...ROLLOUT.gate, ...rollout.gate, checks: [check] } };
}

export function withRuns(progress: RolloutProgress, gates: readonly GateRuns[]): RolloutProgress {
  const { batch } = progress;
  return batch && gates.length > 0 ? { ...progress, batch: { ...batch, gates } } : progress;
}
