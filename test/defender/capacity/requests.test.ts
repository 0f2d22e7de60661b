import { describe, expect, it } from 'vitest';
import { requestedAmounts } from '../../../src/defender/capacity/requests.ts';

function container(cpu: string, more: object = {}): object {
  return { resources: { requests: { cpu } }, ...more };
}

const SIDECAR = { restartPolicy: 'Always' };

describe('requestedAmounts', () => {
  it.each([
    ['no requests', [{}], [], {}, undefined],
    ['the sum of containers', [container('1'), container('200m')], [], {}, 1200],
    ['the largest init container', [container('1')], [container('3'), container('2')], {}, 3000],
    ['sidecars beside containers', [container('1')], [container('500m', SIDECAR)], {}, 1500],
    [
      'an init container after a sidecar',
      [container('1')],
      [container('1', SIDECAR), container('2')],
      {},
      3000,
    ],
    [
      'an init container before a sidecar',
      [container('1')],
      [container('2'), container('1', SIDECAR)],
      {},
      2000,
    ],
    ['the overhead', [container('1')], [], { overhead: { cpu: '250m' } }, 1250],
    ['the Pod as a whole', [container('1')], [], { resources: { requests: { cpu: '2' } } }, 2000],
  ])(
    'R28 counts the requests of a Pod as the scheduler does: %s',
    (...[, containers, initContainers, more, expected]) => {
      const requests = requestedAmounts({ spec: { containers, initContainers, ...more } });
      expect([requests?.get('cpu'), requests?.get('pods')]).toEqual([expected, 1000]);
    },
  );

  it.each([
    [{ containers: [container('one')] }],
    [{ initContainers: [container('-1')] }],
    [{ overhead: { cpu: 'x' } }],
    [{ resources: { requests: [] } }],
  ])('R28 does not know what it cannot read: %j', (spec) => {
    expect(requestedAmounts({ spec })).toBeUndefined();
  });
});
