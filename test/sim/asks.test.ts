import { describe, expect, it } from 'vitest';
import { drawAsks, rememberAsk } from '../../src/sim/asks.ts';
import { createFleet, factsOf } from '../../src/sim/fleet.ts';
import { createRandom } from '../../src/sim/random.ts';

const START_MS = Date.parse('2030-01-01T00:00:00Z');

describe('drawAsks', () => {
  it('asks for repairs of ill machines, for rollouts, and now and then for what must be refused', () => {
    const fleet = createFleet(30, START_MS);
    const ill = fleet.machines.slice(4, 5).map((machine) => factsOf({ ...machine, isReady: false }));
    const random = createRandom(1);
    const asks = Array.from({ length: 5000 }, () => drawAsks(fleet, ill, random)).flat();
    const repairs = asks.filter(({ holder }) => holder.name.endsWith('-repair'));
    expect(repairs.filter(({ machine }) => machine === 'm-4').length).toBeGreaterThan(1000);
    expect(new Set(asks.map(({ action }) => action))).toEqual(
      new Set(['Reboot', 'UpdateComponent', 'CollectDiagnostics', 'ReplaceMachine']),
    );
    expect(asks.some(({ factsAt }) => +factsAt < START_MS)).toBe(true);
    expect(asks.some(({ action, risk }) => action === 'Reboot' && risk === 'None')).toBe(true);
  });

  it('remembers the last ten repairs of a machine, and nothing else', () => {
    const [machine] = createFleet(1, START_MS).machines;
    if (!machine) throw new Error('the fleet has one machine');
    const holder = { kind: 'RemedyOperationJob', name: 'j' } as const;
    const ask = {
      holder,
      machine: 'm-0',
      action: 'Reboot',
      risk: 'Node',
      factsAt: new Date(START_MS),
      expectedSeconds: 1,
    } as const;
    for (let minute = 0; minute < 12; minute += 1) rememberAsk(machine, ask, START_MS + minute);
    rememberAsk(machine, { ...ask, holder: { kind: 'Other', name: 'x' } }, START_MS);
    expect(machine.repairs.length).toBe(10);
    expect(machine.repairs[0]).toEqual({ at: new Date(START_MS + 11), rebooted: true });
  });
});
