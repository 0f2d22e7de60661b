/** A NetworkPolicy without the port of the API server would leave pods that never become ready. */
import { describe, expect, it } from 'vitest';
import { blockedPorts, blockedPortWarnings } from '../../../../src/cli/commands/install/api-ports.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';

const { signal } = new AbortController();

describe('blockedPorts', () => {
  it.each<[string, readonly string[], readonly number[]]>([
    ['no server', [], []],
    ['permitted ports', ['https://10.0.0.1:6443', 'https://10.0.0.2'], []],
    [
      'other ports, once each and in order',
      ['https://a:9443', 'https://b:8443', 'https://c:8443'],
      [8443, 9443],
    ],
    ['an IPv6 address', ['https://[fd00::1]:16443'], [16443]],
  ])('finds the blocked ports of %s', (_, urls, expected) => {
    expect(blockedPorts(urls, [443, 6443])).toEqual(expected);
  });
});

describe('blockedPortWarnings', () => {
  it('is empty for a user who may not read the ports', async () => {
    expect(await blockedPortWarnings(clientThatFails('Forbidden'), [443], signal)).toEqual([]);
  });

  it('fails when the server does not answer', async () => {
    const result = blockedPortWarnings(clientThatFails('Unreachable'), [443], signal);
    await expect(result).rejects.toThrow('cannot list');
  });
});

function clientThatFails(code: 'Forbidden' | 'Unreachable'): { list: () => Promise<never> } {
  return { list: () => Promise.reject(new KubeError(code, 'cannot list')) };
}
