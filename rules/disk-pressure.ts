import type { NodeRemedierSpec } from 'kubenode/constructs';

/** Cleans a disk before the kubelet begins to evict Pods at 85 %. */
export const diskPressure: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'runbooks/disk-pressure.md' },
  faultClass: 'Disk',
  target: { nodeSelector: { matchLabels: { pool: 'general' } }, maxMatchPercent: 20 },
  rule: {
    conditions: { all: [imagefs('greaterThanInclusive', 80)] },
    maxAgeSeconds: { disk: 90 },
  },
  dedup: { group: 'clean-disk', coveredBy: ['replace'] },
  ladder: [
    {
      name: 'clean',
      plan: [{ step: 'CleanDisk', with: { targets: ['unusedImages', 'rotatedLogs'], maxDelete: '40Gi' } }],
      verify: { conditions: { all: [imagefs('lessThan', 78)] } },
    },
    { name: 'human', plan: [{ step: 'HandOff', with: { queue: 'node-sre', severity: 'ticket' } }] },
  ],
  tests: [
    { name: 'full', expect: 'Match', given: { disk: { imagefs: { usedPercent: 91 } } } },
    { name: 'half full', expect: 'NoMatch', given: { disk: { imagefs: { usedPercent: 50 } } } },
    { name: 'agent silent', expect: 'Indeterminate', given: {} },
  ],
};

type Leaf = NodeRemedierSpec['rule']['conditions'];

function imagefs(operator: 'greaterThanInclusive' | 'lessThan', value: number): Leaf {
  return { fact: 'disk', params: { filesystem: 'imagefs' }, path: '$.usedPercent', operator, value };
}
