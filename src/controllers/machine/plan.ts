/** Finds what a machine still needs before it is Ready: the first condition that is not True, in the order of its life. Pure. */
import type { Machine } from '../../api/generated/types.ts';
import { hasStartupTaint } from '../../api/machine/node-state.ts';
import { type Condition, withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { holdInForce } from '../../rollout/holds.ts';
import { heldFinding, hostFindings, reportedFinding } from './conditions.ts';
import { type Finding, finding } from './finding.ts';
import { gatesStability } from './gate-waits.ts';
import { IMPORT_CONDITIONS } from './import/findings.ts';
import type { MachineInput } from './observe.ts';

export interface MachinePlan {
  /** The conditions that the machine controller writes, and no others. */
  readonly conditions: readonly Condition[];
  /** The step that the machine waits for, and why. */
  readonly wait?: MachineWait;
  /** Whether all that the start-up taint waits for is there. */
  readonly removeStartupTaint: boolean;
  /** When time alone changes the plan. */
  readonly changesAt?: Date;
}

export interface MachineWait {
  readonly step: MachineStep;
  readonly reason: string;
  readonly message: string;
  readonly blocker?: Finding['blocker'];
  /** Whether it ends only when a person changes something. */
  readonly isFinal?: boolean;
}

export type MachineStep =
  | 'Provisioning'
  | 'Connecting'
  | 'Preflight'
  | 'Bootstrapping'
  | 'Registering'
  | 'InstallingComponents'
  | 'Joining'
  | 'Verifying'
  | 'Draining';

const STEPS: Readonly<Record<string, MachineStep>> = {
  InfraConfigValid: 'Provisioning',
  InfraReady: 'Provisioning',
  HostTrusted: 'Connecting',
  PreflightPassed: 'Preflight',
  AgentInstalled: 'Bootstrapping',
  CertificateIssued: 'Registering',
  AgentReady: 'Registering',
  ComponentsReady: 'InstallingComponents',
  UpToDate: 'InstallingComponents',
  NodeReady: 'Joining',
};

/** Components come before the Node: the kubelet is one of them. */
const ORDER = [
  'InfraConfigValid',
  'InfraReady',
  'HostTrusted',
  'PreflightPassed',
  'AgentInstalled',
  'CertificateIssued',
  'AgentReady',
  'ComponentsReady',
  'UpToDate',
  'NodeReady',
  'NodeSynced',
];

/** The conditions that this controller writes; the others belong to the agent, to jobs, and to readiness gates. */
export const OWN_CONDITIONS = [
  'InfraConfigValid',
  'InfraReady',
  ...IMPORT_CONDITIONS,
  'CertificateIssued',
  'AgentReady',
  'NodeReady',
  'NodeSynced',
  'GatesStable',
  'Held',
  'Ready',
  'Progressing',
  'Stalled',
];

export function planMachine(observation: MachineInput): MachinePlan {
  const { machine, node, now } = observation;
  const host = hostFindings(observation);
  const needed = neededFindings(machine, host);
  const unmet = needed.find(({ status }) => status !== 'True');
  const before = conditionsInForce(machine, host);
  const isStarting = node !== undefined && hasStartupTaint(node);
  // What has just become True counts from now.
  const known = withConditions(before, host, now);
  const readyAt = isStarting && !unmet ? startsAt(machine, [...known, ...foreignConditions(machine)]) : now;
  const wait = unmet ? waitFor(unmet) : startupWait(isStarting, readyAt, now);
  const hold = holdInForce(machine, node, now);
  const gates = gatesStability(machine, now);
  const all = [...host, ...gates.findings, heldFinding(hold), readyFinding(wait)];
  return {
    conditions: withConditions(before, all, now, machine.metadata.generation),
    ...optional('wait', wait),
    removeStartupTaint: isStarting && !unmet && readyAt <= now,
    ...optional('changesAt', earliest([readyAt, holdEnd(hold?.until), gates.changesAt], now)),
  };
}

function neededFindings(machine: Machine, host: readonly Finding[]): readonly Finding[] {
  const reported = ['ComponentsReady', 'UpToDate'].map((type) =>
    reportedFinding(machine, type, 'the agent has not reported its components'),
  );
  const all = [...host.filter(({ type }) => ORDER.includes(type)), ...reported].toSorted(
    (a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type),
  );
  const gates = machine.spec.readinessGates.map(({ conditionType }) =>
    reportedFinding(machine, conditionType, `the readiness gate ${conditionType} is not reported`),
  );
  return [...all, ...gates];
}

export function ownConditions({ status }: Machine): readonly Condition[] {
  return (status?.conditions ?? []).filter(({ type }) => OWN_CONDITIONS.includes(type));
}

/** The conditions of an import go when the machine has none any more. */
function conditionsInForce(machine: Machine, found: readonly Finding[]): readonly Condition[] {
  return ownConditions(machine).filter(
    ({ type }) => !IMPORT_CONDITIONS.includes(type) || found.some((each) => each.type === type),
  );
}

export function foreignConditions({ status }: Machine): readonly Condition[] {
  return (status?.conditions ?? []).filter(({ type }) => !OWN_CONDITIONS.includes(type));
}

/** Returns when the start-up ends: `minReadySeconds` after the last condition that is needed became True. */
function startsAt(machine: Machine, conditions: readonly Condition[]): Date {
  const gates = machine.spec.readinessGates.map(({ conditionType }) => conditionType);
  const types = new Set([...ORDER, ...gates]);
  const moments = conditions
    .filter(({ type }) => types.has(type))
    .map(({ lastTransitionTime }) => Date.parse(lastTransitionTime));
  return new Date(Math.max(...moments) + machine.spec.minReadySeconds * 1000);
}

function waitFor({ type, reason, message, blocker, isFinal }: Finding): MachineWait {
  const step = STEPS[type] ?? 'Verifying';
  return {
    step,
    reason,
    message: `${type}: ${message}`,
    ...optional('blocker', blocker),
    ...optional('isFinal', isFinal),
  };
}

/** Returns the wait for the start-up. Ready is reported once pods may be scheduled to the Node. */
function startupWait(isStarting: boolean, readyAt: Date, now: Date): MachineWait | undefined {
  if (!isStarting) return undefined;
  const message =
    readyAt > now
      ? `spec.minReadySeconds end at ${readyAt.toISOString()}`
      : 'the start-up taint is being removed';
  return { step: 'Verifying', reason: readyAt > now ? 'MinReadySeconds' : 'Writing', message };
}

function readyFinding(wait: MachineWait | undefined): Finding {
  if (!wait) return finding('Ready', 'True', 'AsWanted', 'host, agent, components and Node are ready');
  return finding('Ready', 'False', wait.reason, wait.message);
}

function holdEnd(until: string | undefined): Date | undefined {
  return until === undefined ? undefined : new Date(Date.parse(until));
}

function earliest(moments: readonly (Date | undefined)[], now: Date): Date | undefined {
  const ahead = moments.filter((at) => at !== undefined && at > now);
  return ahead.toSorted((a, b) => Number(a) - Number(b))[0];
}
