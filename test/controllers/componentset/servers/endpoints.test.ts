import { describe, expect, it } from 'vitest';
import { serverUrls } from '../../../../src/controllers/componentset/servers/endpoints.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';

function slice(addresses: readonly string[], port = 6443, ready = true): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'kubernetes', namespace: 'default' },
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready } })),
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  };
}

describe('serverUrls', () => {
  it('ROL-53 has each API server once, with its own address', () => {
    const slices = [slice(['10.0.0.2', '10.0.0.1']), slice(['10.0.0.1']), slice(['fd00::1'], 443)];
    expect(serverUrls(slices)).toEqual([
      'https://10.0.0.1:6443',
      'https://10.0.0.2:6443',
      'https://[fd00::1]:443',
    ]);
  });

  it('ROL-53 leaves out no server that is not ready: it may run', () => {
    expect(serverUrls([slice(['10.0.0.1'], 6443, false)])).toEqual(['https://10.0.0.1:6443']);
  });

  it('is empty where the API server writes no endpoints', () => {
    expect(serverUrls([])).toEqual([]);
    expect(serverUrls([{ apiVersion: 'v1', kind: 'EndpointSlice', metadata: { name: 'x' } }])).toEqual([]);
  });
});
