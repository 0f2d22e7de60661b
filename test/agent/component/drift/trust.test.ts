import { describe, expect, it } from 'vitest';
import {
  type AuthoritiesChange,
  outdatedTrust,
  startedBetween,
} from '../../../../src/agent/component/drift/trust.ts';

const changedAt = new Date('2030-01-01T12:00:00Z');
const now = new Date('2030-01-01T13:00:00Z');
const MOMENT = { bootId: 'boot-1', now };
const LISTED: AuthoritiesChange = { changedAt, outdated: ['boot-1 7 100', 'boot-0 8 200'] };
const JOINED: AuthoritiesChange = { changedAt };
const [BEFORE, SAME, AFTER] = ['2030-01-01T11:59:59Z', '2030-01-01T12:00:00Z', '2030-01-01T12:00:01Z'];
const FUTURE = '2030-01-01T13:00:01Z';

function running(startedAt: string, pid = 9, startId = '300'): Parameters<typeof outdatedTrust>[2] {
  return { pid, startId, startedAt };
}

describe('outdatedTrust', () => {
  it.each<[what: string, change: AuthoritiesChange, process: ReturnType<typeof running>, expected: boolean]>([
    ['one that ran', LISTED, running(BEFORE, 7, '100'), true],
    ['one that ran, after the clock was set', LISTED, running(FUTURE, 7, '100'), true],
    ['one that did not, after the clock was set', LISTED, running(BEFORE), false],
    ['another process with the same number', LISTED, running(AFTER, 7, '101'), false],
    ['a process of this boot like one of another', LISTED, running(AFTER, 8, '200'), false],
    ['a process whose start is not known', LISTED, running(AFTER, 9, ''), true],
    ['no process', LISTED, undefined, false],
    ['a host that joined with them, a kubelet from before', JOINED, running(BEFORE), true],
    ['a host that joined with them, a kubelet of the same second', JOINED, running(SAME), true],
    ['a host that joined with them, a kubelet from after it', JOINED, running(AFTER), false],
    ['a host that joined with them, a start in the future', JOINED, running(FUTURE), true],
    ['a host that joined with them, an unknown time', JOINED, running(''), true],
  ])(
    'HOS-22 restarts the kubelets that ran when the authorities changed: %s',
    (_, change, process, expected) => {
      const because = outdatedTrust(change, { identity: 'Kubelet' }, process, MOMENT);
      expect(because).toBe(
        expected
          ? `started before the authorities of its cluster changed (${changedAt.toISOString()})`
          : undefined,
      );
    },
  );

  it('HOS-22 restarts no other component, and nothing where no authorities were followed', () => {
    const process = running(BEFORE, 7, '100');
    expect(outdatedTrust(LISTED, { identity: 'None' }, process, MOMENT)).toBeUndefined();
    expect(outdatedTrust(undefined, { identity: 'Kubelet' }, process, MOMENT)).toBeUndefined();
  });
});

describe('startedBetween', () => {
  it('HOS-22 takes no start in the future and no unknown one for a proof', () => {
    const found = [BEFORE, SAME, AFTER, now.toISOString(), FUTURE, ''].map((startedAt) =>
      startedBetween({ startedAt }, changedAt, now),
    );
    expect(found).toEqual([false, false, true, true, false, false]);
  });
});
