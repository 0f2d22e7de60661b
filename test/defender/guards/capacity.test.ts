/** R28: which acts are judged, and what is unknown. */
import { describe, expect, it } from 'vitest';
import { planLedger } from '../../../src/defender/ledger/plan.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import {
  ask,
  decideScene,
  entry,
  explain,
  fleetFacts,
  ledgerSpec,
  machineFacts,
  machines,
  NOW,
  policy,
  type Scene,
} from '../builders.ts';
import { capacityOf, nodeOf, podOf } from '../capacity/builders.ts';

const ASKED = { simulateScheduling: true, minFreePercent: {} };
const FULL = { capacity: capacityOf([nodeOf('m-1'), nodeOf('m-2')], [podOf('api', 'm-1', { cpu: '9' })]) };

function decided(scene: Scene, capacity: typeof ASKED = ASKED): string {
  return explain(decideScene({ policies: [policy({ capacity })], ...scene }));
}

function grants(state: 'Started' | 'Settled'): NonNullable<Scene['ledger']> {
  return { grants: { 'm-2': entry('m-2', { state }) } };
}

describe('capacity of a policy', () => {
  it.each([
    ['an act on the node', {}, 'PodsFitNowhere'],
    [
      'a rollback that takes the node down',
      { ask: { action: 'UpdateComponent', recovery: true } },
      'PodsFitNowhere',
    ],
    ['a node that is put into service again', { ask: { action: 'Uncordon', risk: 'None' } }, 'granted'],
    ['an act that takes no node down', { ask: { action: 'RestartService', risk: 'Pod' } }, 'granted'],
    [
      'a node that serves nothing',
      { machines: [machineFacts('m-1', { readiness: 'NotReady' }), ...machines(10).slice(1)] },
      'granted',
    ],
  ] as const)('R28 judges what takes a serving node down: %s', (_, scene, expected) => {
    expect(decided({ facts: FULL, ...scene })).toContain(expected);
  });

  it('R28 denies while Pods are not observed, and only under a policy that asks for them', () => {
    expect(decided({})).toContain('FactUnknown [fleet-default]: Pods of the cluster were not observed');
    expect(decided({}, { ...ASKED, simulateScheduling: false })).toBe('granted');
  });

  it('R28 denies with the name of a Pod that cannot be read', () => {
    const pods = [podOf('api', 'm-1', { cpu: 'x' })];
    const facts = { capacity: capacityOf([nodeOf('m-1'), nodeOf('m-2')], pods) };
    expect(decided({ facts })).toBe('FactUnknown [fleet-default]: what Pod web/api needs cannot be read');
    const free = { ...ASKED, simulateScheduling: false, minFreePercent: { cpu: 1 } };
    expect(decided({ facts }, free)).toBe('FactUnknown [fleet-default]: requests of 1 Pods cannot be read');
  });

  it('R28 counts the grant of another machine in the same ledger, but not one that is settled', () => {
    const pods = [podOf('api', 'm-1', { cpu: '3' }), podOf('db', 'm-2', {})];
    const facts = { capacity: capacityOf([nodeOf('m-1'), nodeOf('m-2')], pods) };
    expect(decided({ facts, ledger: grants('Started') })).toContain('PodsFitNowhere');
    expect(decided({ facts, ledger: grants('Settled') })).toBe('granted');
  });

  it('R28 keeps none free of a resource that no node has', () => {
    const free = { ...ASKED, simulateScheduling: false, minFreePercent: { 'nvidia.com/gpu': 1 } };
    expect(decided({ facts: FULL }, free)).toContain('CapacityReserve [fleet-default]: nvidia.com/gpu: 0 %');
  });

  it('R28 grants one of two drains of a batch that need the same free place', () => {
    const nodes = ['m-1', 'm-2', 'm-3'].map((name) => nodeOf(name));
    const pods = ['m-1', 'm-2'].map((name, index) => podOf(`api-${index}`, name, { cpu: '3' }));
    const all = [policy({ capacity: ASKED })];
    const facts = fleetFacts(machines(10), all, { capacity: capacityOf(nodes, pods) });
    const input = { ledger: ledgerSpec(), policies: preparePolicies(all), facts, now: NOW, epoch: 1 };
    const asks = ['m-1', 'm-2'].map((machine) => ({ kind: 'ask', ask: ask({ machine }) }) as const);
    expect(planLedger(input, asks).causes).toMatchObject([
      {
        reason: 'PodsFitNowhere',
        message: 'Pods fit on no other node: web/api-1: too little cpu on 1 node',
        key: 'web/api-1',
        policy: 'fleet-default',
      },
    ]);
  });

  it('R28 leaves the place to a Pod that came back after the drain of another machine', () => {
    const pods = [podOf('api', 'm-1', { cpu: '3' }), podOf('db', '', { cpu: '3' })];
    const facts = { capacity: capacityOf([nodeOf('m-1'), nodeOf('m-2'), nodeOf('m-3')], pods) };
    expect(decided({ facts })).toBe('granted');
    expect(decided({ facts, ledger: grants('Started') })).toBe(
      'PodsFitNowhere [fleet-default]: Pods fit on no other node: web/api: too little cpu on 1 node',
    );
  });

  it('R28 names all Pods without a place, and records what would be denied in mode Audit', () => {
    const pods = [
      podOf('api', 'm-1', { cpu: '9' }),
      podOf('db', 'm-1', {}, { nodeSelector: { disk: 'ssd' } }),
    ];
    const facts = { capacity: capacityOf([nodeOf('m-1'), nodeOf('m-2')], pods) };
    const message =
      'Pods fit on no other node: web/api: too little cpu on 1 node; web/db: other labels than it selects on 1 node';
    expect(decided({ facts })).toBe(`PodsFitNowhere [fleet-default]: ${message}`);
    const audited = policy({ mode: 'Audit', capacity: ASKED }, 'audited');
    expect(decideScene({ policies: [policy(), audited], facts })).toMatchObject({
      permitted: true,
      audit: [{ reason: 'PodsFitNowhere', policy: 'audited', message, key: 'web/api' }],
    });
  });
});
