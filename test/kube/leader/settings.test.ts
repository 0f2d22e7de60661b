import { describe, expect, it } from 'vitest';
import { resolveLeaseSettings } from '../../../src/kube/leader/settings.ts';
import { createObjectServer } from '../../support/kube/object-server.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const OPTIONS = {
  client: createObjectServer(),
  name: { namespace: 'system', name: 'controllers' },
  identity: 'a',
  clock: virtualClock(),
  random: () => 0,
  log: memoryLog(),
};

describe('resolveLeaseSettings', () => {
  it('fills in the defaults of client-go, and waits for the answer to a renewal for as long as it proves something', () => {
    expect(resolveLeaseSettings(OPTIONS)).toMatchObject({
      label: 'system/controllers',
      leaseSeconds: 15,
      renewDeadlineSeconds: 10,
      retrySeconds: 2,
      timeoutMs: 5000,
      renewalTimeoutMs: 10_000,
    });
  });

  it.each([
    [15, 15, 2],
    [15, 4, 2],
    [15, 10, 0],
    [1.5, 1, 0.2],
  ])('rejects %s/%s/%s seconds', (leaseSeconds, renewDeadlineSeconds, retrySeconds) => {
    const times = { leaseSeconds, renewDeadlineSeconds, retrySeconds };
    expect(() => resolveLeaseSettings({ ...OPTIONS, ...times })).toThrow(RangeError);
  });
});
