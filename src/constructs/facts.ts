/**
 * Offers typed helpers for all that a rule can read of a node, such as `disk('imagefs').usedPercent.atLeast(80)`. They render
 * the JSON of the rule language.
 */
import { DURATION_FORM, type DurationText, durationSeconds } from '../api/duration.ts';
import { DECIDED, type FaultClass, NO_OUTAGES, OUTAGES } from '../api/enums.ts';
import type { Step } from '../api/steps/steps.ts';
import { componentFact } from '../rules/facts/component.ts';
import { conditionFact } from '../rules/facts/condition.ts';
import { diagnosisFact } from '../rules/facts/diagnosis.ts';
import { diskFact } from '../rules/facts/disk.ts';
import { eventFact } from '../rules/facts/event.ts';
import { fleetFact } from '../rules/facts/fleet.ts';
import { historyFact } from '../rules/facts/history.ts';
import { maintenanceFact } from '../rules/facts/maintenance.ts';
import { metricFact } from '../rules/facts/metric.ts';
import { nodeFact } from '../rules/facts/node.ts';
import { probeFact } from '../rules/facts/probe.ts';
import type { AffectedQuery } from '../rules/facts/reading/affected.ts';
import { workloadFact } from '../rules/facts/workload.ts';
import { xidFact } from '../rules/facts/xid.ts';
import { compareFact, type FactComparisons } from './comparisons.ts';
import type { Expr } from './generated/types.ts';

export interface WithinWindow {
  /** How long ago the window that is counted begins: `10m`, `1h`. */
  readonly within: DurationText;
}

export interface ForDuration {
  /** How long the condition must have had this status, by the clock of kubenode: `90s`, `3m`. */
  readonly for: DurationText;
}

type ConditionFields = FactComparisons<typeof conditionFact>;
type ConditionStatus = Parameters<ConditionFields['status']['is']>[0];

export interface ConditionComparisons extends ConditionFields {
  /** Holds while the condition has this status, and has had it for at least that long. */
  is(status: ConditionStatus, options?: ForDuration): Expr;
}

/** A condition of the Node or the Machine. */
export function condition(type: string): ConditionComparisons {
  const fields = compareFact(conditionFact, { type });
  const is: ConditionComparisons['is'] = (status, options) => {
    const now = fields.status.is(status);
    return options ? all(now, fields.observedSeconds.atLeast(secondsOf(options.for))) : now;
  };
  return Object.freeze({ ...fields, is });
}

/** Events of the Node with one reason. */
export function event(reason: string, { within }: WithinWindow): FactComparisons<typeof eventFact> {
  return compareFact(eventFact, { reason, windowSeconds: secondsOf(within) });
}

/** Earlier repairs of the machine with one step. */
export function history(action: Step, { within }: WithinWindow): FactComparisons<typeof historyFact> {
  return compareFact(historyFact, { action, windowSeconds: secondsOf(within) });
}

type MaintenanceFields = FactComparisons<typeof maintenanceFact>;

export interface MaintenanceComparisons extends MaintenanceFields {
  /** Holds from the moment on when the machine is to be prepared for an outage that is decided, until the event is over. */
  isDue(): Expr;
  /** Holds while it is known that nothing of the kind is due. */
  isNotDue(): Expr;
  /** Holds as isDue does, for a hint: an outage that may never come. */
  isHintDue(): Expr;
  isNoHintDue(): Expr;
}

/** Compares what is announced for the machine: its earliest event that is not over. */
export function maintenance(): MaintenanceComparisons {
  const fields = compareFact(maintenanceFact);
  const { pending, hint, type, state, secondsUntilAct } = fields;
  const due = (isHint: boolean): readonly [Expr, ...Expr[]] => [
    pending.is(true),
    secondsUntilAct.atMost(0),
    hint.is(isHint),
    type.in(...OUTAGES),
  ];
  const notDue = (isHint: boolean): readonly [Expr, ...Expr[]] => [
    pending.is(false),
    secondsUntilAct.above(0),
    hint.is(!isHint),
    type.in(...NO_OUTAGES),
  ];
  return Object.freeze({
    ...fields,
    isDue: () => all(...due(false), state.in(...DECIDED)),
    isNotDue: () => any(...notDue(false), state.is('Inquiring')),
    isHintDue: () => all(...due(true)),
    isNoHintDue: () => any(...notDue(true)),
  });
}

/** Compares the errors of GPUs with one of these codes, which NVIDIA calls Xid. */
export function xid(codes: readonly number[], { within }: WithinWindow): FactComparisons<typeof xidFact> {
  return compareFact(xidFact, { codes, windowSeconds: secondsOf(within) });
}

export interface FleetScope extends WithinWindow {
  /** The property that the machines share, such as `driverVersion`; `cluster`: all of them. */
  readonly scope: AffectedQuery['scope'];
  readonly faultClass: FaultClass;
}

/** Compares how many machines have a fault of a class, of those that share a property with this one. In gates only. */
export function fleet({ scope, faultClass, within }: FleetScope): FactComparisons<typeof fleetFact> {
  return compareFact(fleetFact, { scope, faultClass, windowSeconds: secondsOf(within) });
}

/** Compares why the machine is silent, by several vantage points. */
export function diagnosis(): FactComparisons<typeof diagnosisFact> {
  return compareFact(diagnosisFact);
}

/** Compares what runs on the node: gangs, local data, and Pods that ask to be left alone. In gates only. */
export function workload(): FactComparisons<typeof workloadFact> {
  return compareFact(workloadFact);
}

/** Compares the sample of the machine in the answer of Prometheus to a query: the one whose label `node` is its name. */
export function metric(query: string): FactComparisons<typeof metricFact> {
  return compareFact(metricFact, { query });
}

/** A component of the machine, by its name. */
export function component(name: string): FactComparisons<typeof componentFact> {
  return compareFact(componentFact, { name });
}

/** A filesystem of the host: nodefs, imagefs, or the path of a mount. */
export function disk(filesystem: 'nodefs' | 'imagefs' | `/${string}`): FactComparisons<typeof diskFact> {
  return compareFact(diskFact, { filesystem });
}

/** A probe of the agent. */
export function probeByName(name: string): FactComparisons<typeof probeFact> {
  return compareFact(probeFact, { name });
}

/** The node as a whole. */
export const nodeProperties: FactComparisons<typeof nodeFact> = compareFact(nodeFact);

/** Holds if every one of these holds. */
export function all(...conditions: readonly [Expr, ...Expr[]]): Expr {
  return { all: conditions };
}

/** Holds if at least one of these holds. */
export function any(...conditions: readonly [Expr, ...Expr[]]): Expr {
  return { any: conditions };
}

function secondsOf(text: DurationText): number {
  const seconds = durationSeconds(text);
  if (seconds === undefined) {
    throw new Error(`invalid duration: expected ${DURATION_FORM}, got ${JSON.stringify(text)}`);
  }
  return seconds;
}
