/** One machine as the machine controller observes it: Ready, unless a test overrides it. */
import type { Machine } from '../../src/api/generated/types.ts';
import { type InfraObservation, infraFindings } from '../../src/controllers/machine/instance/findings.ts';
import { planNodeSync } from '../../src/controllers/machine/node/sync.ts';
import type { MachineInput } from '../../src/controllers/machine/observe.ts';
import { type MachinePlan, planMachine } from '../../src/controllers/machine/plan.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { patchJson } from '../../src/sim/api-server/json-patch.ts';
import { condition, type MachineParts, machine, NOW, node } from './builders.ts';

export interface ObservationParts extends Pick<MachineParts, 'spec' | 'metadata'> {
  /** Conditions of others, by type; null for one that is missing. */
  readonly reported?: Readonly<Record<string, 'True' | 'False' | 'Unknown' | null>>;
  readonly status?: Partial<NonNullable<Machine['status']>>;
  readonly node?: 'Missing' | 'Starting' | 'True' | 'False' | 'Unknown';
  readonly heartbeat?: MachineInput['heartbeat'] | 'Missing';
  readonly isSynced?: boolean;
}

const ALIVE = { ageMs: 5000, hasChanged: true, unreportedMs: 0 };
const OPTIONS = { mayEvict: true, removeStartupTaint: false };

export function observation(parts: ObservationParts = {}): MachineInput {
  const { heartbeat = ALIVE, isSynced = true, node: state = 'True' } = parts;
  const object = machineFor(parts);
  const its = nodeFor(object, state, isSynced);
  return {
    machine: object,
    node: its,
    heartbeat: heartbeat === 'Missing' ? undefined : heartbeat,
    ...(its ? { sync: planNodeSync(object, its, OPTIONS) } : {}),
    infraFindings: infraFindings(object, hostOf(object)),
    now: NOW,
  };
}

function machineFor({ reported, status, metadata, spec }: ObservationParts): Machine {
  const conditions = conditionsFrom({ ComponentsReady: 'True', UpToDate: 'True', ...reported });
  return machine('m', {
    ...(metadata ? { metadata } : {}),
    ...(spec ? { spec } : {}),
    status: { conditions, ...status },
  });
}

function conditionsFrom(
  reported: NonNullable<ObservationParts['reported']>,
): NonNullable<Machine['status']>['conditions'] {
  return Object.entries(reported).flatMap(([type, status]) => (status ? [condition(type, status)] : []));
}

function nodeFor(
  object: Machine,
  state: NonNullable<ObservationParts['node']>,
  isSynced: boolean,
): KubeObject | undefined {
  if (state === 'Missing') return undefined;
  const taints = state === 'Starting' ? [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }] : [];
  const found = { ...node('m', state === 'Starting' ? 'True' : state, { uid: 'node-1' }), spec: { taints } };
  if (!isSynced) return found;
  return patchJson(found, planNodeSync(object, found, OPTIONS).operations) as KubeObject;
}

/** `step reason blocker: message`, or `Ready`; then whether the start-up taint goes. */
export function explainMachine(parts: ObservationParts): string {
  return explainMachinePlan(planMachine(observation(parts)));
}

export function explainMachinePlan({ wait, removeStartupTaint, conditions }: MachinePlan): string {
  const ready = conditions.find(({ type }) => type === 'Ready')?.status;
  const blocker = wait?.blocker ? ` ${wait.blocker.kind}/${wait.blocker.name}` : '';
  const text = wait ? `${wait.step} ${wait.reason}${blocker}: ${wait.message}` : `Ready ${ready}`;
  return removeStartupTaint ? `${text}; remove the taint` : text;
}

function hostOf({ spec }: Machine): InfraObservation {
  return { host: spec.infra.provider === 'local' ? 'JoinsByItself' : 'NotSupported' };
}
