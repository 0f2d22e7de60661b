import { describe, expect, it } from 'vitest';
import { createBackends } from '../../../../src/controllers/hosting/balancer/backends.ts';
import { formatHealth, readyPortsIn } from '../../../../src/controllers/hosting/balancer/health.ts';

describe('the health of a balancer', () => {
  it('HOS-22 names the ports of the API servers that it finds ready', () => {
    const backends = createBackends([21, 22, 23]);
    expect(readyPortsIn(formatHealth(backends))).toEqual([]);
    for (const backend of backends) backend.isReady = backend.port !== 22;
    expect(readyPortsIn(formatHealth(backends))).toEqual([21, 23]);
  });

  it.each(['ok\n', '', '[21]', '{'])('HOS-22 is unknown in an answer without them: %j', (body) => {
    expect(readyPortsIn(body)).toBeUndefined();
  });
});
