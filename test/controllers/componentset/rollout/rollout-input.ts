/** Inputs of the planner for tests: machines at revisions, without the objects that they are read from. */
import type { LedgerGrant, Machine, Rollout } from '../../../../src/api/generated/types.ts';
import type { MemberState } from '../../../../src/controllers/componentset/machine/member-state.ts';
import { type Revision, revisionOf } from '../../../../src/controllers/componentset/revision/resolve.ts';
import type {
  OpenBatch,
  RolloutInput,
  RolloutProgress,
} from '../../../../src/controllers/componentset/rollout/input.ts';
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

export interface InputParts extends Partial<Omit<RolloutInput, 'set'>> {
  readonly rollout?: Partial<Rollout>;
  readonly paused?: boolean;
  readonly retryToken?: string;
}

export function inputOf({
  rollout = {},
  paused = false,
  retryToken,
  ...parts
}: InputParts = {}): RolloutInput {
  const spec = { paused, ...(retryToken === undefined ? {} : { retryToken }) };
  return {
    set: componentSet('general', { spec, rollout: { ...ROLLOUT, maxUnavailable: 5, ...rollout } }),
    desired: { revision: NEW, yanked: [] },
    stable: OLD,
    progress: progressOf(),
    members: [],
    left: [],
    deleted: [],
    gate: { state: 'Open' },
    classOf: () => 'Restart',
    now: NOW,
    ...parts,
  };
}
