import { all, condition, history, type NodeRemedierSpec } from 'kubenode/constructs';

const SILENT = '5m';

/**
 * Switches a host off and on of which nothing answers, neither the kubelet nor the agent. When many hosts of a zone fall silent it is the
 * network or the zone: then the Defender denies it, see the breaker `unhealthy` of the policy.
 */
export const deadHost: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/dead-host.md' },
  faultClass: 'Hardware',
  priority: 650,
  target: { nodeSelector: { all: true }, controlPlane: 'Never', maxMatchPercent: 5 },
  rule: {
    conditions: all(
      condition('Ready').is('Unknown', { for: SILENT }),
      condition('AgentReady').is('Unknown', { for: SILENT }),
    ),
    // A host that dies again and again is for a person.
    gate: history('PowerCycle', { within: '24h' }).count.below(2),
    clearSeconds: 300,
  },
  dedup: { group: 'power-cycle', coveredBy: ['replace'] },
  ladder: [
    {
      name: 'power-cycle',
      plan: [
        { step: 'Cordon', timeoutSeconds: 30 },
        { step: 'PowerCycle', with: { via: ['BMC', 'Provider'] }, timeoutSeconds: 900 },
      ],
      verify: {
        conditions: all(condition('Ready').is('True'), condition('AgentReady').is('True')),
        holdSeconds: 120,
        timeoutSeconds: 600,
      },
      onVerified: [{ step: 'Uncordon' }],
    },
    { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'node-sre', severity: 'page' } }] },
  ],
  tests: [
    {
      name: 'nothing answers',
      expect: 'Match',
      given: { ...silent('Unknown', 'Unknown', 310), history: [] },
    },
    {
      name: 'nothing answers since a minute',
      expect: 'NoMatch',
      given: { ...silent('Unknown', 'Unknown', 60), history: [] },
    },
    {
      name: 'the agent answers',
      expect: 'NoMatch',
      given: { ...silent('Unknown', 'True', 900), history: [] },
    },
    {
      name: 'the kubelet answers',
      expect: 'NoMatch',
      given: { ...silent('True', 'Unknown', 900), history: [] },
    },
    {
      name: 'power-cycled twice today',
      expect: 'Held',
      given: { ...silent('Unknown', 'Unknown', 310), history: powerCycles(3600, 36_000) },
    },
    {
      name: 'agent never observed',
      expect: 'Indeterminate',
      given: { ...ready('Unknown', 310), history: [] },
    },
  ],
};

type Given = Readonly<Record<string, unknown>>;

function ready(status: string, observedSeconds: number): Given {
  return { condition: { Ready: { status, observedSeconds } } };
}

function silent(kubelet: string, agent: string, observedSeconds: number): Given {
  const AgentReady = { status: agent, observedSeconds };
  return { condition: { Ready: { status: kubelet, observedSeconds }, AgentReady } };
}

function powerCycles(...agesSeconds: number[]): readonly object[] {
  return agesSeconds.map((ageSeconds) => ({ action: 'PowerCycle', ageSeconds }));
}
