import { describe, expect, it } from 'vitest';
import type { Permission } from '../../../../src/controllers/componentset/rollout/input.ts';
import { startWait } from '../../../../src/controllers/componentset/rollout/start-wait.ts';
import { grant, member, NEW, type StateParts } from './rollout-input.ts';

const RESTART: Permission = { by: 'Ask', class: 'Restart', recovery: false };
const BUSY = grant({ holder: { kind: 'RemedyOperationJob', name: 'job-1' }, action: 'Reboot' });
const HOLD = { reason: 'debugging', scope: 'Disruptive' } as const;
const IN_WORK = {
  step: 'InWork',
  reason: 'Probation',
  because: 'app is Probation',
  holdsGrant: true,
} as const;

describe('startWait', () => {
  it.each<[what: string, parts: StateParts, expected: string | undefined, permission?: Partial<Permission>]>([
    ['a machine that serves', {}, undefined],
    ['a machine that is not Ready', { readiness: 'NotReady', serves: false }, undefined],
    ['a pin', { pinned: ['app'] }, 'Pinned m: app pinned by another manager'],
    ['a hold', { hold: HOLD }, 'Held m: held: debugging'],
    ['a hold of disruptive acts, and a reload', { hold: HOLD }, undefined, { class: 'Reload' }],
    [
      'a hold of all acts, and a reload',
      { hold: { ...HOLD, scope: 'All' } },
      'Held m: held: debugging',
      { class: 'Reload' },
    ],
    ['a silent agent', { isSilent: true }, 'AgentSilent m: its agent is silent'],
    ['another act', { grant: BUSY }, 'MachineBusy m: Reboot of RemedyOperationJob job-1 is in work'],
    [
      'a cordon that a repair has kept, and a drain',
      { cordonedFor: 'g-7-0' },
      'NodeCordoned m: its Node is cordoned for grant g-7-0 of a repair',
      { class: 'Drain' },
    ],
    ['a cordon that a repair has kept, and a restart', { cordonedFor: 'g-7-0' }, undefined],
    ['an update in work', IN_WORK, 'Probation m: app is Probation'],
    [
      'an update that took too long, and another revision',
      { ...IN_WORK, step: 'Failed', reason: 'TimedOut' },
      undefined,
    ],
    ['an update in work that is taken back', IN_WORK, undefined, { recovery: true }],
    [
      'another act, and a recovery',
      { grant: BUSY },
      'MachineBusy m: Reboot of RemedyOperationJob job-1 is in work',
      { recovery: true },
    ],
    ['a pin of a held machine', { pinned: ['app'], hold: HOLD }, 'Pinned m: app pinned by another manager'],
  ])('ROL-61 gives one reason why a machine cannot start: %s', (_what, parts, expected, permission = {}) => {
    const wait = startWait(member('m', parts), NEW, { ...RESTART, ...permission });
    expect(wait && `${wait.reason} ${wait.because}`).toBe(expected);
  });

  it('ROL-61 names the object that blocks', () => {
    expect(startWait(member('m', { isSilent: true }), NEW, RESTART)?.blocker).toEqual({
      kind: 'Machine',
      name: 'm',
    });
    expect(startWait(member('m', { grant: BUSY }), NEW, RESTART)?.blocker).toEqual({
      kind: 'RemedyOperationJob',
      name: 'job-1',
    });
  });
});
