import { all, condition, type NodeRemedierSpec } from 'kubenode/constructs';

/** Restarts a kubelet that is silent while the agent answers, and hands off to people if that does not help. Times are shortened for a demonstration. */
export const kubeletSilent: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'demo' },
  faultClass: 'Runtime',
  // Half of prod may be silent: what is done in a zone that is dark is the decision of the Defender.
  target: { nodeSelector: { matchLabels: { pool: 'general' } }, maxMatchPercent: 60 },
  rule: {
    conditions: all(condition('Ready').is('Unknown', { for: '20s' }), condition('AgentReady').is('True')),
    clearSeconds: 5,
  },
  ladder: [
    {
      name: 'restart',
      plan: [{ step: 'RestartService', with: { service: 'kubelet' }, timeoutSeconds: 60 }],
      verify: { conditions: condition('Ready').is('True'), holdSeconds: 5, timeoutSeconds: 60 },
    },
    { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'demo', severity: 'ticket' } }] },
  ],
  tests: [
    { name: 'silent', expect: 'Match', given: readyFor('Unknown', 30) },
    { name: 'for a moment', expect: 'NoMatch', given: readyFor('Unknown', 10) },
    { name: 'nor the agent', expect: 'NoMatch', given: readyFor('Unknown', 30, 'Unknown') },
    { name: 'heard of', expect: 'NoMatch', given: readyFor('True', 600) },
    { name: 'no Node yet', expect: 'Indeterminate', given: {} },
  ],
};

function readyFor(
  status: 'True' | 'Unknown',
  observedSeconds: number,
  agent: 'True' | 'Unknown' = 'True',
): Readonly<Record<string, unknown>> {
  const AgentReady = { status: agent, observedSeconds };
  return { condition: { Ready: { status, observedSeconds }, AgentReady } };
}
