/** Registers the metrics of the machines of a cluster. They are counted from the view when Prometheus scrapes: no request is sent. */
import type { Machine, RemedyOperationJob } from '../../api/generated/types.ts';
import { isEndedJobPhase, remedyOperationJobPhases } from '../../api/status/phase-tables.ts';
import type { View } from '../../kube/cache/view.ts';
import type { GaugeSample, Metrics } from '../../kube/process/metrics.ts';
import type { Clock } from '../../os/clock.ts';
import {
  AGENT_CERTIFICATE_END,
  AGENT_STATES,
  AGENTS_BY_STATE,
  COMPONENT_DIFFERING_SECONDS,
  COMPONENT_MACHINES,
  COVERAGE_STATES,
  MACHINE_INFO,
  MACHINE_STATES,
  MACHINES_BY_STATE,
  MACHINES_CHANGING,
} from '../metrics/machine.ts';
import {
  MACHINE_REPAIRS,
  REMEDY_DENIED_SECONDS,
  REMEDY_OPEN_JOBS,
  REMEDY_WAITING,
} from '../metrics/repair.ts';
import { countFleet, type FleetCounts } from './counts.ts';
import { machineLabels } from './machine-labels.ts';

/** All gauges of one scrape are from one count. */
const COUNT_MS = 1000;

type Listed<T extends Machine | RemedyOperationJob> = {
  readonly store: Pick<View<T>['store'], 'list' | 'hasSynced'>;
};

export interface CountedViews {
  readonly machines: Listed<Machine>;
  readonly jobs: Listed<RemedyOperationJob>;
}

export function registerFleetMetrics(
  metrics: Metrics,
  { machines, jobs }: CountedViews,
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
): void {
  let counted: { readonly atMs: number; readonly counts: FleetCounts } | undefined;
  const counts = (): FleetCounts | undefined => {
    // A list that is not complete must not look like a small fleet.
    if (!machines.store.hasSynced()) return undefined;
    const atMs = clock.monotonicMs();
    if (!counted || atMs - counted.atMs >= COUNT_MS) {
      counted = { atMs, counts: countFleet(machines.store.list(), clock.now()) };
    }
    return counted.counts;
  };
  function read<L extends string>(
    samples: (found: FleetCounts) => readonly GaugeSample<L>[],
  ): () => readonly GaugeSample<L>[] {
    return () => {
      const found = counts();
      return found ? samples(found) : [];
    };
  }

  metrics.gauge({
    ...MACHINES_BY_STATE,
    read: read((found) => MACHINE_STATES.map((state) => [{ state }, found.machines.get(state) ?? 0])),
  });
  metrics.gauge({ ...MACHINES_CHANGING, read: read(({ changing }) => [[{}, changing]]) });
  metrics.gauge({
    ...REMEDY_OPEN_JOBS,
    read: () => (jobs.store.hasSynced() ? [[{}, jobs.store.list().filter(isOpenJob).length]] : []),
  });
  metrics.gauge({ ...MACHINE_REPAIRS, read: read(repairsOfWorst) });
  metrics.gauge({
    ...AGENTS_BY_STATE,
    read: read((found) => AGENT_STATES.map((state) => [{ state }, found.agents.get(state) ?? 0])),
  });
  metrics.gauge({
    ...AGENT_CERTIFICATE_END,
    read: read(({ certificateEnd }) => (certificateEnd ? [[{}, certificateEnd.getTime() / 1000]] : [])),
  });
  metrics.gauge({ ...COMPONENT_MACHINES, read: read(coverage) });
  metrics.gauge({ ...COMPONENT_DIFFERING_SECONDS, read: read(differing) });
  metrics.gauge({ ...REMEDY_WAITING, read: read(waitingMachines) });
  metrics.gauge({ ...REMEDY_DENIED_SECONDS, read: read(deniedSeconds) });
}

function isOpenJob({ status }: RemedyOperationJob): boolean {
  return !isEndedJobPhase(remedyOperationJobPhases.phaseOf({ conditions: status?.conditions }));
}

/** Names each machine, which costs as many series as there are. */
export function registerMachineInfo(metrics: Metrics, { store }: CountedViews['machines']): void {
  metrics.gauge({
    ...MACHINE_INFO,
    read: () =>
      (store.hasSynced() ? store.list() : []).flatMap((machine) => {
        const labels = machineLabels(machine);
        return labels ? [[labels, 1] as const] : [];
      }),
  });
}

function coverage({ components }: FleetCounts): readonly GaugeSample<'component' | 'state'>[] {
  return [...components].flatMap(([component, { states }]) =>
    COVERAGE_STATES.map((state) => [{ component, state }, states[state]] as const),
  );
}

/** The series without a name is there, too, where no machine was repaired twice: the report can tell that from a metric that is missing. */
function repairsOfWorst({ worst }: FleetCounts): readonly GaugeSample<'machine'>[] {
  return [[{ machine: '' }, 0], ...worst.map(({ machine, repairs }) => [{ machine }, repairs] as const)];
}

function differing({ components }: FleetCounts): readonly GaugeSample<'component'>[] {
  return [...components].map(([component, { differingSeconds }]) => [{ component }, differingSeconds]);
}

function waitingMachines({ waits }: FleetCounts): readonly GaugeSample<'rule' | 'reason'>[] {
  return waits.map(({ rule, reason, machines }) => [{ rule, reason }, machines]);
}

function deniedSeconds({ waits }: FleetCounts): readonly GaugeSample<'rule' | 'reason'>[] {
  return waits.flatMap(({ rule, reason, seconds, isDenied }) =>
    isDenied ? [[{ rule, reason }, seconds] as const] : [],
  );
}
