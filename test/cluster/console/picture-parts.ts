/** Commits, limits and the open machine of the pictures of the documentation. */
import type { ConsoleState } from '../../../src/console/state/state.ts';
import type {
  MachineAnswer,
  MachineDetailView,
  MachineEventsView,
} from '../../../src/views/machine/detail.ts';
import type { CommitView } from '../../../src/views/release/commit-view.ts';
import { fleetPolicyCard } from '../../console/fixtures.ts';

export const PICTURE_COMMIT = '5f2c9a41d0b7';

function commit(
  hash: string,
  subject: string,
  rest: Pick<CommitView, 'phase' | 'created' | 'stages'>,
): CommitView {
  const link = `https://git.example.com/platform/fleet/commit/${hash}`;
  return { name: `fleet-${hash}`, pipeline: 'fleet', commit: hash, subject, author: 'Anna', link, ...rest };
}

function proven(name: string, since: string, plan: string): CommitView['stages'][number] {
  return { name, state: 'Proven', since, proven: 1, total: 1, plan, because: '' };
}

const ONE_UPDATE = '1 of 1 clusters change; objects: 0 created, 1 updated, 0 deleted';

export const PICTURE_COMMITS: ConsoleState['commits'] = {
  [`fleet-${PICTURE_COMMIT}`]: commit(PICTURE_COMMIT, 'kubelet 1.36.0', {
    phase: 'Promoting',
    created: '2026-03-02T09:12:00Z',
    stages: [
      proven('test', '2026-03-02T09:44:00Z', ONE_UPDATE),
      {
        name: 'prod',
        state: 'Promoting',
        since: '2026-03-02T09:46:00Z',
        proven: 0,
        total: 1,
        plan: `${ONE_UPDATE}; disrupts 20 machines`,
        because: 'prod: MachineComponentSet general-nodes: 4 of 20 machines run kubelet 1.36.0',
      },
    ],
  }),
  'fleet-b81f07c2e9d4': commit('b81f07c2e9d4', 'Restart a kubelet that hangs', {
    phase: 'Succeeded',
    created: '2026-03-01T14:03:00Z',
    stages: [
      proven(
        'test',
        '2026-03-01T14:05:00Z',
        '1 of 1 clusters change; objects: 1 created, 0 updated, 0 deleted',
      ),
      proven(
        'prod',
        '2026-03-01T14:36:00Z',
        '1 of 1 clusters change; objects: 1 created, 0 updated, 0 deleted',
      ),
    ],
  }),
};

export const PICTURE_LIMITS: Pick<ConsoleState, 'limits' | 'fleetPolicies'> = {
  limits: {
    'prod/zones': {
      cluster: 'prod',
      policy: 'zones',
      rule: 'concurrency',
      counts: 'zone b',
      used: 2,
      limit: 3,
    },
    'prod/zones-a': {
      cluster: 'prod',
      policy: 'zones',
      rule: 'concurrency',
      counts: 'zone a',
      used: 1,
      limit: 3,
    },
    'prod/repairs': {
      cluster: 'prod',
      policy: 'repairs',
      rule: 'rate',
      counts: 'repairs in 1 h',
      used: 1,
      limit: 1,
    },
  },
  fleetPolicies: { fleet: fleetPolicyCard('fleet') },
};

export const PICTURE_DETAIL: MachineDetailView = {
  components: [
    {
      name: 'containerd',
      desired: '2.1.0',
      runs: '2.1.0',
      digest: 'sha256:7d1b',
      state: 'Ready',
      since: '2026-02-20T08:11:00Z',
      because: '',
    },
    {
      name: 'kubelet',
      desired: '1.35.4',
      runs: '1.35.4',
      digest: 'sha256:c40e',
      state: 'Ready',
      since: '2026-02-20T08:14:00Z',
      because: '',
    },
  ],
  conditions: [
    {
      condition: 'AgentReady=Unknown',
      reason: 'AgentSilent',
      since: '2026-03-02T09:58:30Z',
      message: 'no heartbeat for 90 s',
    },
  ],
};

export const PICTURE_ANSWER: MachineAnswer = {
  at: '2026-03-02T09:59:58Z',
  text: `prod-a-05   pool general / zone a   Unknown 90s   facts 0s old, ledger seq 4711

rollout   general-nodes kubelet 1.36.0: NotReady: the machine is not Ready: no heartbeat for 90 s (90s)
            unblocks: kubenode machine show prod-a-05
rules     agent-silent: NoMatch yet: the agent is silent for 90 s of 300 s
DENIED    Reboot  ConcurrencyZone  fleet-default: 2 of 2 machines of zone a are out of service
            prod-a-03  Rollout Granted  MachineComponentSet general-nodes, granted 4m ago, ends 2026-03-02T10:06:00Z  [g-12-0]
  retry   when what is named above changes
  unblock kubenode defender status
PERMITTED DeleteMachine
`,
};

export const PICTURE_EVENTS: MachineEventsView = {
  events: [
    {
      at: '2026-03-02T09:59:10Z',
      isWarning: true,
      reason: 'NodeNotReady',
      about: 'Node',
      message: 'Node prod-a-05 status is now: NodeNotReady',
      count: 1,
      from: 'node-controller',
    },
    {
      at: '2026-03-02T09:52:00Z',
      isWarning: true,
      reason: 'FreeDiskSpaceFailed',
      about: 'Node',
      message: 'attempted to free 10 GiB, found 0 bytes eligible to free',
      count: 14,
      from: 'kubelet',
    },
  ],
};
