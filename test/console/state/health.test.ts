import { describe, expect, it } from 'vitest';
import { groupFleet } from '../../../src/console/state/fleet.ts';
import { clusterHealthView, type HealthView } from '../../../src/console/state/health.ts';
import type { ClusterLine } from '../../../src/console/state/state.ts';
import { clusterLine, stateOf } from '../fixtures.ts';

function viewOf(line: Partial<ClusterLine>, ...phases: readonly string[]): HealthView | undefined {
  const machines = Object.fromEntries(phases.map((phase, index) => [`prod/m-${index}`, phase]));
  const { stages } = groupFleet(stateOf(machines, { clusters: { prod: clusterLine('prod', line) } }));
  const [group] = stages.flatMap(({ clusters }) => clusters);
  return group && clusterHealthView(group);
}

describe('clusterHealthView', () => {
  it.each<[name: string, line: Partial<ClusterLine>, phases: readonly string[], expected: HealthView]>([
    [
      'is Unhealthy above red tiles although the commit is proven',
      { state: 'Proven', health: 'Healthy' },
      ['Ready', 'Unreachable'],
      { health: 'Unhealthy', machines: { total: 2, ready: 1 } },
    ],
    [
      'is what the hub tells while no tile is red: objects and incidents count, too',
      { health: 'Unhealthy' },
      ['Ready', 'Updating'],
      { health: 'Unhealthy', machines: { total: 2, ready: 1 } },
    ],
    [
      'is what the hub counted while the machines are not shown',
      { health: 'Unhealthy', machines: { total: 6, ready: 3 } },
      [],
      { health: 'Unhealthy', machines: { total: 6, ready: 3 } },
    ],
    [
      'names no machines where there are none',
      { machines: { total: 0, ready: 0 } },
      [],
      { health: 'Healthy' },
    ],
    [
      'is Healthy by the machines alone where no hub lists the cluster',
      { state: 'Local', health: 'Unknown' },
      ['Ready'],
      { health: 'Healthy', machines: { total: 1, ready: 1 } },
    ],
  ])('%s', (_, line, phases, expected) => {
    expect(viewOf(line, ...phases)).toEqual(expected);
  });
});
