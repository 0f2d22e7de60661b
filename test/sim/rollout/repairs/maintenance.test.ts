import { describe, expect, it } from 'vitest';
import { MAINTENANCE_EVENTS, NODE_REMEDIERS } from '../../../../src/api/generated/resources.ts';
import type { MaintenanceEvent } from '../../../../src/api/generated/types.ts';
import { isDecided } from '../../../../src/api/machine/maintenance-events.ts';
import { MAINTENANCE_REMEDIER } from '../../../../src/api/names.ts';
import { createSimulatedApi, type SimulatedApi } from '../../../../src/sim/api-server/simulated-api.ts';
import { createRandom } from '../../../../src/sim/random.ts';
import { createMoments, KEYS } from '../../../../src/sim/rollout/repairs/judge/forbidden-since.ts';
import { announceMaintenance, endMaintenance } from '../../../../src/sim/rollout/repairs/maintenance.ts';
import { simulatedRemediers } from '../../../../src/sim/rollout/repairs/remediers.ts';
import { machine } from '../../../support/builders.ts';
import { maintenanceEvent } from '../../../support/maintenance.ts';

function announced(steps: number): { readonly api: SimulatedApi; readonly observed: ReadonlySet<string> } {
  const observed = new Set<string>();
  const api = createSimulatedApi({
    nowMs: () => 0,
    changed: ({ after }) => {
      if (after?.kind !== MAINTENANCE_EVENTS.kind) return;
      const { spec } = after as MaintenanceEvent;
      observed.add(`${spec.hint ? 'hint' : 'event'} ${spec.state}`);
    },
  });
  api.put(machine('m-1'));
  const random = createRandom(1);
  for (let step = 0; step < steps; step += 1) announceMaintenance({ api, random });
  return { api, observed };
}

describe('simulated maintenance', () => {
  it('announces events and hints that happen, fail, and are cancelled or avoided', () => {
    const { api, observed } = announced(40_000);
    const states = ['Scheduled', 'Executing', 'Done', 'Failed', 'Cancelled', 'Avoided'];
    expect([...observed].toSorted()).toEqual(
      ['event', 'hint'].flatMap((kind) => states.map((each) => `${kind} ${each}`)).toSorted(),
    );
    expect(api.list(MAINTENANCE_EVENTS).some(isDecided)).toBe(true);
    endMaintenance({ api });
    expect(api.list(MAINTENANCE_EVENTS).filter(isDecided)).toEqual([]);
  });

  it('forbids steps of its rule once no event of the machine is due any more', () => {
    let nowMs = 0;
    const moments = createMoments(() => nowMs);
    const key = KEYS.cleared('m-1', MAINTENANCE_REMEDIER);
    const write = (name: string, state: MaintenanceEvent['spec']['state']): number | undefined => {
      nowMs += 1;
      moments.written({ atMs: nowMs, before: undefined, after: maintenanceEvent({ name, state }) });
      return moments.since.get(key);
    };
    const since = [
      write('a', 'Scheduled'),
      write('b', 'Executing'),
      write('a', 'Cancelled'),
      write('b', 'Done'),
    ];
    expect([...since, write('c', 'Scheduled')]).toEqual([undefined, undefined, undefined, 4, undefined]);
  });

  it('has a rule that empties machines', () => {
    const rule = simulatedRemediers().find(({ metadata }) => metadata.name === MAINTENANCE_REMEDIER);
    expect(rule?.kind).toBe(NODE_REMEDIERS.kind);
    expect(rule?.spec.ladder.map(({ name }) => name)).toEqual(['empty', 'person']);
  });
});
