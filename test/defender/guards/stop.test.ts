import { describe, expect, it } from 'vitest';
import type { KillSwitch } from '../../../src/api/generated/types.ts';
import { isEngaged } from '../../../src/api/status/pauses.ts';
import { stopCauses } from '../../../src/defender/guards/stop.ts';
import { ago, ask, decideScene, explain, machineFacts, NOW } from '../builders.ts';

const STOP: KillSwitch = { engaged: true, scope: 'All', by: 'ann', reason: 'bad image' };
const UPDATE = ask({ holder: { kind: 'MachineComponentSet', name: 'base', revision: 'r-1' } });

describe('stopCauses', () => {
  it.each<readonly [string, KillSwitch, boolean]>([
    ['everything', STOP, true],
    ['rollouts', { ...STOP, scope: 'Rollout' }, true],
    ['no rollout where only repairs are stopped', { ...STOP, scope: 'Remedy' }, false],
    ['until a time', { ...STOP, until: ago(-1) }, true],
    ['not after that time', { ...STOP, until: ago(0) }, false],
    ['nothing while it is not engaged', { ...STOP, engaged: false }, false],
  ])('stops %s', (_, stop, isDenied) => {
    const causes = stopCauses(stop, { ask: UPDATE, now: NOW }, 'stopped');
    expect(causes.map(({ message }) => message)).toEqual(isDenied ? ['stopped by ann: bad image'] : []);
  });

  it('R25 ends by itself where it has an end', () => {
    const until = ago(-60);
    expect(stopCauses({ ...STOP, until }, { ask: UPDATE, now: NOW }, 'stopped')).toMatchObject([
      { until: new Date(until) },
    ]);
    expect(isEngaged({ ...STOP, until }, new Date(Date.parse(until)))).toBe(false);
  });
});

describe('held', () => {
  const hold = { reason: 'disk', scope: 'Disruptive' } as const;

  it('denies acts on a machine that a person holds, and not what disturbs nothing', () => {
    const machines = [machineFacts('m-1', { holds: [hold] })];
    expect(explain(decideScene({ machines }))).toContain('HumanHold: machine m-1 is held: disk');
    const diagnosis = { action: 'CollectDiagnostics', risk: 'None' } as const;
    expect(explain(decideScene({ machines, ask: diagnosis }))).not.toContain('HumanHold');
    const ended = [machineFacts('m-1', { holds: [{ ...hold, until: ago(1) }] })];
    expect(explain(decideScene({ machines: ended }))).not.toContain('HumanHold');
  });

  it('denies acts on a machine that is excluded or paused', () => {
    const machines = [machineFacts('m-1', { excluded: true, paused: true })];
    expect(explain(decideScene({ machines }))).toContain('ClusterPaused: m-1 is paused');
    expect(explain(decideScene({ machines }))).toContain('NodeExcluded: machine m-1 has the label');
  });
});
