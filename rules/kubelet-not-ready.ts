import type { NodeRemedierSpec } from 'kubenode/constructs';

/** Restarts a kubelet that is not Ready once, then hands off to people. */
export const kubeletNotReady: NodeRemedierSpec = {
  mode: 'Shadow',
  owner: { team: 'node-sre', runbook: 'runbooks/kubelet-not-ready.md' },
  faultClass: 'Runtime',
  priority: 600,
  target: { nodeSelector: { matchLabels: { pool: 'general' } }, maxMatchPercent: 10 },
  rule: {
    conditions: {
      any: [ready('False'), ready('Unknown')],
    },
    maxAgeSeconds: { condition: 120 },
    clearSeconds: 300,
  },
  dedup: { group: 'restart-kubelet', coveredBy: ['replace'] },
  ladder: [
    {
      name: 'restart',
      plan: [{ step: 'RestartService', with: { service: 'kubelet' } }],
      verify: { conditions: { all: [ready('True')] } },
    },
    { name: 'human', plan: [{ step: 'HandOff', with: { queue: 'node-sre', severity: 'page' } }] },
  ],
  tests: [
    { name: 'not ready', expect: 'Match', given: { condition: { Ready: { status: 'False' } } } },
    { name: 'node lease lost', expect: 'Match', given: { condition: { Ready: { status: 'Unknown' } } } },
    { name: 'ready', expect: 'NoMatch', given: { condition: { Ready: { status: 'True' } } } },
    { name: 'no condition', expect: 'Indeterminate', given: {} },
  ],
};

function ready(value: 'True' | 'False' | 'Unknown'): NodeRemedierSpec['rule']['conditions'] {
  return { fact: 'condition', params: { type: 'Ready' }, path: '$.status', operator: 'equal', value };
}
