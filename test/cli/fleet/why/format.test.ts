import { expect, it } from 'vitest';
import { formatWhy } from '../../../../src/cli/fleet/why/format.ts';
import type { MachineExplanation } from '../../../../src/defender/explain.ts';
import { viewMaintenance } from '../../../../src/views/maintenance/view.ts';
import { ago, NOW } from '../../../support/builders.ts';
import { maintenanceEvent } from '../../../support/maintenance.ts';

const QUIET: MachineExplanation = {
  machine: 'node-a22',
  pool: 'web',
  zone: 'cn-b',
  readiness: 'Ready',
  notes: [],
  holds: [],
  waits: [],
  acts: [{ action: 'Reboot', permitted: true, causes: [], inTheWay: [] }],
  breakers: [],
  ledger: { seq: 7, recovering: false },
  factsAgeSeconds: 3.2,
};

const GRANT = {
  id: 'g-1',
  action: 'Reboot',
  holder: { kind: 'RemedyOperationJob', name: 'node-a17-kernel-hang' },
  issuedAt: ago(180),
  notAfter: '2030-01-01T00:02:00Z',
  machine: 'node-a17',
  state: 'Started',
} as const;

it('R29 prints one line for a machine on which everything is permitted', () => {
  expect(formatWhy(QUIET, NOW)).toBe(
    ['node-a22   pool web / zone cn-b   Ready   facts 3s old, ledger seq 7', '', 'PERMITTED Reboot', ''].join(
      '\n',
    ),
  );
});

it('R29 prints the deciding limit first, then the rest, who is in the way, and what ends it', () => {
  const why: MachineExplanation = {
    ...QUIET,
    readiness: 'NotReady',
    readinessSince: ago(840),
    notes: ['cordoned'],
    holds: [{ reason: 'new disks', scope: 'All', until: '2030-01-02T00:00:00Z' }],
    waits: [
      { object: 'NodeRemedier hang', reason: 'TooManyMatches', since: ago(60), unblock: 'look for a cause' },
      { object: 'Machine node-a22', reason: 'WaitingForGrant', since: ago(60) },
    ],
    acts: [
      {
        action: 'Reboot',
        permitted: false,
        causes: [
          { reason: 'ConcurrencyPool', policy: 'fleet-default', message: 'pool web: 1 of 1' },
          {
            reason: 'NodeInterval',
            message: 'last job ended 06:51',
            until: new Date('2030-01-01T00:21:00Z'),
          },
        ],
        inTheWay: [
          GRANT,
          { ...GRANT, machine: 'node-a18', state: 'Settled', countsUntil: '2030-01-01T00:05:00.000Z' },
        ],
      },
    ],
    breakers: [
      {
        id: 'fleet-default/unhealthy/cluster',
        state: 'Open',
        since: ago(60),
        closesAt: '2030-01-01T00:09:00Z',
        evidence: '3 of 4',
      },
    ],
    ledger: { seq: 9, recovering: true },
  };
  expect(formatWhy(why, NOW)).toBe(
    [
      'node-a22   pool web / zone cn-b   NotReady 14m, cordoned   facts 3s old, ledger seq 9, recovering',
      '',
      'held      all automation: new disks (until 2030-01-02T00:00:00Z)',
      'waits     NodeRemedier hang: TooManyMatches (60s)',
      '            unblocks: look for a cause',
      '          Machine node-a22: WaitingForGrant (60s)',
      'DENIED    Reboot  ConcurrencyPool  fleet-default: pool web: 1 of 1',
      '  also    NodeInterval  last job ended 06:51 (until 2030-01-01T00:21:00.000Z)',
      '          node-a17  Reboot Started  RemedyOperationJob node-a17-kernel-hang, granted 3m ago, ends 2030-01-01T00:02:00Z  [g-1]',
      '          node-a18  Reboot Settled  RemedyOperationJob node-a17-kernel-hang, granted 3m ago, counts until 2030-01-01T00:05:00.000Z  [g-1]',
      '  retry   when what is named above changes',
      '  unblock bring machines back that are NotReady or cordoned, or wait until an act settles: kubenode defender status',
      '  read    docs/runbooks/denials.md#concurrencypool',
      'breakers  fleet-default/unhealthy/cluster Open for 60s, not closed before 2030-01-01T00:09:00Z: 3 of 4',
      '',
    ].join('\n'),
  );
});

it('R29 prints when time alone ends the denial, and shows no control characters of others', () => {
  const held = { ...QUIET, holds: [{ reason: 'a\u001b[2Jb\nc', scope: 'Disruptive' as const }] };
  expect(formatWhy(held, NOW)).toContain(String.raw`held      disruptive acts: a\u001b[2Jb\nc`);
  const until = new Date('2030-01-01T00:21:00Z');
  const act = { action: 'Reboot', permitted: false, causes: [], inTheWay: [], retryAt: until } as const;
  expect(formatWhy({ ...QUIET, acts: [act] }, NOW)).toContain('  retry   at 2030-01-01T00:21:00.000Z');
});

it('R29 prints each rule that found something, with its mode unless it repairs', () => {
  const found = {
    rule: 'kernel-hang',
    because: 'gate: node uptimeSeconds is 120, not at least 900',
    leaves: [],
  };
  const rules = [
    { ...found, outcome: 'Held', mode: 'Enforce' },
    { ...found, outcome: 'Match', mode: 'Shadow' },
  ] as const;
  expect(
    formatWhy({ ...QUIET, rules }, NOW)
      .split('\n')
      .slice(2, 4),
  ).toEqual([
    'rules     kernel-hang: Held: gate: node uptimeSeconds is 120, not at least 900',
    '          kernel-hang: Match (mode Shadow): gate: node uptimeSeconds is 120, not at least 900',
  ]);
});

it('R39 prints announced maintenance with its start and what it waits for', () => {
  const waiting = { reason: 'Denied', since: ago(60), message: 'zone cn-b is full' };
  const event = maintenanceEvent({ machine: 'node-a22', status: { phase: 'Preparing', waiting } });
  const text = formatWhy({ ...QUIET, maintenance: [viewMaintenance(event)] }, NOW);
  expect(text).toContain(
    'announced local-e-1: Reboot Scheduled from 2030-01-01T13:00:00Z, Preparing: Denied 60s: zone cn-b is full\n',
  );
});

it('ROL-61 prints why a pin is not in force, since when, and what unblocks it', () => {
  const pins = [
    {
      component: 'proxy',
      componentRef: 'proxy-2.0',
      reason: 'ConcurrencyPool',
      because: 'fleet-default: pool web: 1 in work, and at most 1 allowed by limit one',
      since: ago(120),
      unblock: 'wait until an act settles',
    },
  ];
  expect(
    formatWhy({ ...QUIET, pins }, NOW)
      .split('\n')
      .slice(2, 4),
  ).toEqual([
    'pins      proxy proxy-2.0: ConcurrencyPool: fleet-default: pool web: 1 in work, and at most 1 allowed by limit one (2m)',
    '            unblocks: wait until an act settles',
  ]);
});

it('R20 prints what the peers of a silent machine found', () => {
  const silence = { address: '10.0.0.1', port: 10_250, since: ago(120), peers: ['p-1', 'p-2', 'p-3'] };
  const probes = { result: 'PortOpen', peers: ['p-2'], silence } as const;
  expect(formatWhy({ ...QUIET, readiness: 'Unknown', probes }, NOW)).toContain(
    '\nprobes    PortOpen by p-2: its kubelet accepts connections and does not answer; 3 asked to probe 10.0.0.1:10250 for 2m\n',
  );
});
