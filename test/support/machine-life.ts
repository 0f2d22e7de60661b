/**
 * The life of one machine whose readiness gates others report over time: what the machine controller plans and writes at
 * each tick, with the status and the Node as it left them at the tick before.
 */
import type { Condition, Machine } from '../../src/api/generated/types.ts';
import { hasStartupTaint } from '../../src/api/machine/node-state.ts';
import { planNodeSync } from '../../src/controllers/machine/node/sync.ts';
import type { MachineInput } from '../../src/controllers/machine/observe.ts';
import { planMachine } from '../../src/controllers/machine/plan.ts';
import { machineStatus } from '../../src/controllers/machine/status.ts';
import { conditionOf } from '../../src/kube/objects/conditions.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { patchJson } from '../../src/sim/api-server/json-patch.ts';
import { condition, NOW } from './builders.ts';
import { observation } from './machine-observations.ts';

export interface GateReport {
  /** Seconds after the Node has registered. */
  readonly at: number;
  readonly gate: string;
  readonly status: Condition['status'];
}

export interface MachineLife {
  readonly gates: readonly string[];
  readonly reports: readonly GateReport[];
  readonly minReadySeconds: number;
  readonly seconds: number;
}

interface Moment {
  readonly observed: MachineInput;
  readonly line: string;
}

const TICK_SECONDS = 30;

/** A line for each change: `300 s: tainted, MinReadySeconds`, with the message of Stalled while it is True. */
export function machineLife(life: MachineLife): readonly string[] {
  const { gates, minReadySeconds, seconds } = life;
  const readinessGates = gates.map((conditionType) => ({ conditionType }));
  let observed = observation({ node: 'Starting', spec: { readinessGates, minReadySeconds } });
  const lines: string[] = [];
  for (let at = 0; at <= seconds; at += TICK_SECONDS) {
    const moment = reconciled(atTime(observed, life, at));
    observed = moment.observed;
    const [, last] = lines.at(-1)?.split(' s: ') ?? [];
    if (moment.line !== last) lines.push(`${at} s: ${moment.line}`);
  }
  return lines;
}

function atTime(observed: MachineInput, { gates, reports }: MachineLife, at: number): MachineInput {
  const { machine } = observed;
  const reported = gates.flatMap((gate) => reportedAt(reports, gate, at) ?? []);
  const others = (machine.status?.conditions ?? []).filter(({ type }) => !gates.includes(type));
  return {
    ...withStatus(observed, { conditions: [...others, ...reported] }),
    now: new Date(NOW.getTime() + at * 1000),
  };
}

/** With the time of its last change, as its owner writes it. */
function reportedAt(reports: readonly GateReport[], gate: string, at: number): Condition | undefined {
  const last = reports.findLast((each) => each.gate === gate && each.at <= at);
  if (!last) return undefined;
  const lastTransitionTime = new Date(NOW.getTime() + last.at * 1000).toISOString();
  return condition(gate, last.status, { lastTransitionTime });
}

function withStatus(observed: MachineInput, status: Partial<NonNullable<Machine['status']>>): MachineInput {
  const { machine } = observed;
  const before = machine.status ?? { conditions: [] };
  return { ...observed, machine: { ...machine, status: { ...before, ...status } } };
}

/** A reconcile writes the Node, then the status, each with its own fields. */
function reconciled(observed: MachineInput): Moment {
  const { machine, node, now } = observed;
  const plan = planMachine(observed);
  const { removeStartupTaint } = plan;
  const status = machineStatus({ machine, node, plan, now });
  const foreign = (machine.status?.conditions ?? []).filter(
    ({ type }) => !status.conditions.some((each) => each.type === type),
  );
  const { waiting: _, ...before } = machine.status ?? { conditions: [] };
  const conditions = [...status.conditions, ...foreign];
  const after: Machine = { ...machine, status: { ...before, ...status, conditions } };
  const written = node && syncedNode(after, node, removeStartupTaint);
  const next: MachineInput = { ...observed, machine: after, node: written };
  return { observed: next, line: lineOf(next, plan.wait?.reason ?? 'Ready') };
}

function syncedNode(machine: Machine, node: KubeObject, removeStartupTaint: boolean): KubeObject {
  const { operations } = planNodeSync(machine, node, { mayEvict: true, removeStartupTaint });
  return patchJson(node, operations) as KubeObject;
}

function lineOf({ machine, node }: MachineInput, state: string): string {
  const taint = node && hasStartupTaint(node) ? 'tainted' : 'open';
  return [taint, state, ...stalledText(machine)].join(', ');
}

/** Without the time since when. */
function stalledText({ status }: Machine): readonly string[] {
  const stalled = conditionOf(status?.conditions, 'Stalled');
  return stalled?.status === 'True' ? [stalled.message.replace(/^since \S+:/, 'Stalled:')] : [];
}
