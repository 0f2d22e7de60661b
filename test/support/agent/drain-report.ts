/** What an agent reports of a component that waits for the drain of its machine, by the agent itself: controllers are tested with it. */
import { activationWait } from '../../../src/agent/component/brakes.ts';
import { NO_DRIFT } from '../../../src/agent/journal/drift.ts';
import type { Transition } from '../../../src/agent/journal/record.ts';
import { reportStatus } from '../../../src/agent/status/report.ts';
import type { MachineComponentReport } from '../../../src/api/generated/types.ts';
import type { ComponentVersion } from '../builders.ts';
import { NOW } from '../virtual-clock.ts';
import { present } from './component-driver.ts';
import { componentInput, V1, V2 } from './component-input.ts';

const NEXT = { ...V2, activation: 'Drain' as const };
const STAGED: Transition = {
  step: 'Staged',
  entry: NEXT.id,
  direction: 'Forward',
  from: V1.id,
  to: NEXT.id,
  bootId: 'boot-1',
  boots: 0,
};

export function drainReport({ name, componentRef, digest }: ComponentVersion): MachineComponentReport {
  const targets = new Map([V1, NEXT].map((each) => [each.id, each]));
  const desired = present(NEXT);
  const input = componentInput({ desired, targets }, { current: V1.id, state: 'Committed' });
  const wait = activationWait(input, STAGED);
  const component = {
    desired,
    entry: { componentRef, digest },
    progress: { ...input.progress, component: name, transition: STAGED },
    drift: NO_DRIFT,
    findings: [],
    current: V1,
    units: input.observed.units,
    ready: true,
    ...(wait ? { wait } : {}),
  };
  const { components } = reportStatus({ components: new Map([[name, component]]), generation: 1, now: NOW });
  const [report] = components;
  if (!report) throw new Error('the agent reports no component');
  return report;
}
