import { all, condition, type NodeRemedierSpec } from 'kubenode/constructs';

const SILENT = '10s';

/**
 * Replaces a machine of which nothing answers, neither the kubelet nor the agent: another one is Ready before it is deleted. Times are
 * shortened for a demonstration, and a sandbox has no power to switch: the rule dead-host of kubenode does that first.
 */
export const deadMachine: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'demo' },
  faultClass: 'Hardware',
  // Half of a cluster may be silent: what is done in a zone that is dark is the decision of the Defender.
  target: { nodeSelector: { matchLabels: { pool: 'general' } }, maxMatchPercent: 60 },
  rule: {
    conditions: all(
      condition('Ready').is('Unknown', { for: SILENT }),
      condition('AgentReady').is('Unknown', { for: SILENT }),
    ),
    clearSeconds: 5,
  },
  ladder: [
    {
      name: 'replace',
      plan: [{ step: 'ReplaceMachine', with: { replacementFirst: true }, timeoutSeconds: 300 }],
      verify: {
        target: 'Replacement',
        conditions: condition('Ready').is('True'),
        holdSeconds: 5,
        timeoutSeconds: 60,
      },
    },
    { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'demo', severity: 'ticket' } }] },
  ],
  tests: [
    { name: 'nothing answers', expect: 'Match', given: silentFor(20, 'Unknown', 'Unknown') },
    { name: 'for a moment', expect: 'NoMatch', given: silentFor(5, 'Unknown', 'Unknown') },
    { name: 'the agent answers', expect: 'NoMatch', given: silentFor(20, 'Unknown', 'True') },
    { name: 'no Node yet', expect: 'Indeterminate', given: {} },
  ],
};

function silentFor(
  observedSeconds: number,
  kubelet: 'True' | 'Unknown',
  agent: 'True' | 'Unknown',
): Readonly<Record<string, unknown>> {
  const Ready = { status: kubelet, observedSeconds };
  const AgentReady = { status: agent, observedSeconds };
  return { condition: { Ready, AgentReady } };
}
