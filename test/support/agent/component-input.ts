/** Input of the planner of a component: a free machine on which version 1.0 is installed and runs. */
import type { ComponentInput } from '../../../src/agent/component/input.ts';
import type { ComponentObservation, ObservedFile } from '../../../src/agent/component/observe.ts';
import type { ComponentPlan, HostOperation } from '../../../src/agent/component/operation.ts';
import { linksOf } from '../../../src/agent/component/placements.ts';
import { planTransition } from '../../../src/agent/component/transition/plan.ts';
import type { UnitStatus } from '../../../src/agent/host/port.ts';
import { NO_DRIFT } from '../../../src/agent/journal/drift.ts';
import type { ComponentProgress } from '../../../src/agent/journal/progress.ts';
import type { ComponentRecord, SettledRecord, StepRecord } from '../../../src/agent/journal/record.ts';
import { dataDirectory } from '../../../src/agent/layout.ts';
import type { Target } from '../../../src/agent/target/target.ts';
import { NOW } from '../virtual-clock.ts';
import { FREE, present } from './component-driver.ts';
import { target } from './targets.ts';

export const V1 = target('1.0');
export const V2 = target('1.1');

const RUNNING: UnitStatus = { defined: true, enabled: true, masked: false, active: 'Active', restarts: 0 };

/** The host after `of` was installed. */
export function installed(of: Target, fields: Partial<ComponentObservation> = {}): ComponentObservation {
  const attributes = { mode: '0644', owner: 'root:root' };
  const files = of.files.map(
    ({ path, content }) => [path, { type: 'File', content, ...attributes }] as const,
  );
  const links = linksOf(of).map(
    ({ path, target: to }) => [path, { type: 'Link', target: to, ...attributes }] as const,
  );
  return {
    bootId: 'boot-1',
    artifacts: new Map(of.artifact ? [[of.artifact.sha256, 'Complete']] : []),
    directories: new Set([of.directory]),
    files: new Map<string, ObservedFile>([
      ...files,
      ...links,
      [dataDirectory(of.component), { type: 'Directory', ...attributes }],
    ]),
    units: new Map(of.units.map(({ name }) => [name, RUNNING])),
    programs: new Map(),
    backups: new Set([...files, ...links].map(([path]) => path)),
    ...fields,
  };
}

/** The host before anything was installed. */
export const EMPTY_HOST: ComponentObservation = {
  bootId: 'boot-1',
  artifacts: new Map(),
  directories: new Set(),
  files: new Map(),
  units: new Map(),
  programs: new Map(),
  backups: new Set(),
};

export function componentInput(
  fields: Partial<ComponentInput> = {},
  progress: Partial<ComponentProgress> = {},
): ComponentInput {
  return {
    component: 'proxy',
    desired: present(V2),
    progress: {
      component: 'proxy',
      state: 'Absent',
      denied: [],
      history: [],
      since: NOW.toISOString(),
      ...progress,
    },
    targets: new Map([V1, V2].map((each) => [each.id, each])),
    observed: installed(V1),
    now: NOW,
    brakes: FREE,
    others: new Map(),
    drift: NO_DRIFT,
    ...fields,
  };
}

/** A plan as one line: what it does, what it records, why it waits. */
export function explainPlan({ actions, wait }: ComponentPlan): string {
  const words = actions.map((action) =>
    action.type === 'Operate'
      ? operationText(action.operation)
      : `record ${recordText(action.record)}: ${action.because}`,
  );
  if (wait) words.push(`wait ${wait.reason}: ${wait.message}`);
  return words.join(', ') || 'nothing';
}

export function explain(input: ComponentInput): string {
  return explainPlan(planTransition(input));
}

function operationText(operation: HostOperation): string {
  const what = 'unit' in operation ? operation.unit : 'path' in operation ? operation.path : undefined;
  return what === undefined ? operation.op : `${operation.op} ${what}`;
}

function recordText(record: ComponentRecord): string {
  if (record.type === 'Retry') return 'Retry';
  if (record.type === 'Correction') return `${record.kind} ${record.subject}`;
  if (record.type === 'Process') return `${record.content} ${record.unit}`;
  return record.type === 'Settled' ? settledText(record) : stepText(record);
}

function settledText(record: SettledRecord): string {
  const denied = record.denied === undefined ? '' : ` denying ${versionOf(record.denied)}`;
  return `${record.state}${record.current === undefined ? '' : ` at ${versionOf(record.current)}`}${denied}`;
}

function stepText(record: StepRecord): string {
  const to = record.to === undefined ? '' : ` to ${versionOf(record.to)}`;
  return `${record.step} ${record.direction}${to}${record.boots > 0 ? ` after ${record.boots} boots` : ''}`;
}

function versionOf(id: string): string {
  return [V1, V2].find((each) => each.id === id)?.version ?? id;
}
