import { describe, expect, it } from 'vitest';
import { type ServerVersions, skewReason } from '../../src/rollout/kubelet-skew.ts';

function known(...versions: readonly string[]): ServerVersions {
  return { state: 'Known', versions };
}

const UNKNOWN: ServerVersions = { state: 'Unknown', because: '10.0.0.2:6443 does not answer' };

describe('skewReason', () => {
  it.each<readonly [kubelet: string, servers: ServerVersions, expected: string | undefined]>([
    ['1.34.2', known('v1.34.2'), undefined],
    ['1.34.2', known('v1.35.0', 'v1.34.2'), undefined],
    ['1.31.0', known('v1.34.2'), undefined],
    ['1.34.2-0a1b2c3d', known('v1.34.2+k3s1'), undefined],
    [
      '1.35.0',
      known('v1.36.0', 'v1.34.2'),
      'kubelet 1.35.0 is newer than the API server, v1.34.2. Upgrade the API server first',
    ],
    [
      '1.34.3',
      known('v1.34.2'),
      'kubelet 1.34.3 is newer than the API server, v1.34.2. Upgrade the API server first',
    ],
    ['1.35.9', known('v1.35'), undefined],
    [
      '1.36.0',
      known('v1.36.3', 'v1.35'),
      'kubelet 1.36.0 is newer than the API server, v1.35. Upgrade the API server first',
    ],
    ['1.9.0', known('v1.10.0'), undefined],
    [
      '1.10.0',
      known('v1.9.0'),
      'kubelet 1.10.0 is newer than the API server, v1.9.0. Upgrade the API server first',
    ],
    [
      '1.30.9',
      known('v1.34.0'),
      'kubelet 1.30.9 is more than 3 minors older than the API server, v1.34.0. Choose a newer kubelet',
    ],
    [
      '1.34.2',
      known('v2.0.0'),
      'kubelet 1.34.2 is more than 3 minors older than the API server, v2.0.0. Choose a newer kubelet',
    ],
    ['1.34.2', UNKNOWN, 'the versions of the API servers are unknown: 10.0.0.2:6443 does not answer'],
    ['1.34.2', known(), 'cannot compare kubelet 1.34.2 with API servers (none)'],
    ['latest', known('v1.34.2'), 'cannot compare kubelet latest with API servers v1.34.2'],
    ['1.34.2', known('v1.35.0', 'devel'), 'cannot compare kubelet 1.34.2 with API servers v1.35.0, devel'],
  ])('ROL-53 permits only what every API server supports: kubelet %s, %o', (kubelet, servers, expected) => {
    expect(skewReason(kubelet, servers)?.because).toBe(expected);
  });
});
