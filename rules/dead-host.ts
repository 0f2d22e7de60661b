import { all, condition, maintenance, type NodeRemedierSpec } from 'kubenode/constructs';

const SILENT = '5m';
const DAY_SECONDS = 86_400;

const CALM = { maintenance: { pending: false } };
const REBOOTED_BY_PROVIDER = {
  maintenance: { pending: true, type: 'Reboot', state: 'Executing', hint: false, secondsUntilAct: -60 },
};

const returned = all(condition('Ready').is('True'), condition('AgentReady').is('True'));

/**
 * Switches a host off and on of which nothing answers, neither the kubelet nor the agent, and replaces it when that does not help and its
 * MachineSet can create another one. When many hosts of a zone fall silent it is the network or the zone: then the Defender denies it, see
 * the breaker `unhealthy` of the policy.
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
    // An announced reboot or redeployment looks the same while it happens.
    gate: maintenance().isNotDue(),
    clearSeconds: 300,
    // A host that dies a third time within a day is for a person: each time it falls silent, and each time it returns, counts.
    flap: { windowSeconds: DAY_SECONDS, maxTransitions: 4 },
  },
  dedup: { group: 'power-cycle', coveredBy: ['replace'] },
  ladder: [
    {
      name: 'power-cycle',
      plan: [
        { step: 'Cordon', timeoutSeconds: 30 },
        { step: 'PowerCycle', with: { via: ['BMC', 'Provider'] }, timeoutSeconds: 900 },
      ],
      verify: { conditions: returned, holdSeconds: 120, timeoutSeconds: 600 },
      onVerified: [{ step: 'Uncordon' }],
    },
    {
      name: 'replace',
      // Another machine is Ready before this one is deleted: a set that cannot create one loses nothing. The deletion of a machine that
      // does not answer may take the two hours of spec.deletion.timeoutSeconds.
      plan: [{ step: 'ReplaceMachine', with: { replacementFirst: true }, timeoutSeconds: 10_800 }],
      verify: {
        target: 'Replacement',
        conditions: condition('Ready').is('True'),
        holdSeconds: 120,
        timeoutSeconds: 900,
      },
    },
    { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'node-sre', severity: 'page' } }] },
  ],
  job: { deadlineSeconds: 14_400 },
  tests: [
    { name: 'nothing answers', expect: 'Match', given: { ...silent('Unknown', 'Unknown', 310), ...CALM } },
    {
      name: 'nothing answers since a minute',
      expect: 'NoMatch',
      given: { ...silent('Unknown', 'Unknown', 60), ...CALM },
    },
    { name: 'the agent answers', expect: 'NoMatch', given: { ...silent('Unknown', 'True', 900), ...CALM } },
    { name: 'the kubelet answers', expect: 'NoMatch', given: { ...silent('True', 'Unknown', 900), ...CALM } },
    {
      name: 'its provider reboots it',
      expect: 'Held',
      given: { ...silent('Unknown', 'Unknown', 310), ...REBOOTED_BY_PROVIDER },
    },
    { name: 'agent never observed', expect: 'Indeterminate', given: { ...ready('Unknown', 310), ...CALM } },
    {
      name: 'events of its provider are not known',
      expect: 'Indeterminate',
      given: silent('Unknown', 'Unknown', 310),
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
