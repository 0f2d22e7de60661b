import { describe, expect, it } from 'vitest';
import { deprecatedApis } from '../../../../src/controllers/hosting/inside/deprecated-apis.ts';

/** As a kube-apiserver writes it. */
function sample(labels: Readonly<Record<string, string>>, value = '1'): string {
  const all = { group: '', removed_release: '', resource: 'pods', subresource: '', version: 'v1', ...labels };
  const text = Object.entries(all).map(([name, label]) => `${name}="${label}"`);
  return `apiserver_requested_deprecated_apis{${text.join(',')}} ${value}\n`;
}

const FLOWS = {
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1beta3',
  resource: 'flowschemas',
  removed_release: '1.32',
};
const FLOW = { api: 'flowcontrol.apiserver.k8s.io/v1beta3 flowschemas', removedIn: '1.32' };

describe('the deprecated APIs that clients requested', () => {
  it.each<readonly [name: string, metrics: string, expected: unknown]>([
    ['none', '# HELP apiserver_requested_deprecated_apis Gauge\nup 1\n', []],
    ['one that goes', sample(FLOWS), [FLOW]],
    ['one that is deprecated and stays', sample({ resource: 'componentstatuses' }), []],
    ['one that was not requested', sample(FLOWS, '0'), []],
    ['one by a subresource, too', sample(FLOWS) + sample({ ...FLOWS, subresource: 'status' }), [FLOW]],
    [
      'one of the core group',
      sample({ resource: 'a', removed_release: '1.40' }),
      [{ api: 'v1 a', removedIn: '1.40' }],
    ],
    ['another metric with these labels', sample(FLOWS).replace('requested_', 'other_'), []],
    [
      'one whose name has more than the status allows',
      sample({ resource: 'r'.repeat(300), removed_release: '1.40' }),
      [{ api: `v1 ${'r'.repeat(250)}`, removedIn: '1.40' }],
    ],
    ['a release that is not one', sample({ ...FLOWS, removed_release: 'soon' }), []],
  ])('HOS-15 the deprecated APIs in use are %s', (_, metrics, expected) => {
    expect(deprecatedApis(metrics)).toEqual(expected);
  });

  it('HOS-15 are bounded, and sorted', () => {
    const many = Array.from({ length: 30 }, (_, n) => sample({ ...FLOWS, resource: `r${n + 10}` }));
    const found = deprecatedApis(many.toReversed().join(''));
    expect([found.length, found[0]?.api]).toEqual([20, 'flowcontrol.apiserver.k8s.io/v1beta3 r10']);
  });
});
