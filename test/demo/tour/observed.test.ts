import { describe, expect, it } from 'vitest';
import type {
  Cluster,
  DefenderLedger,
  FleetPolicy,
  LedgerRule,
  Machine,
  MachineComponentSet,
  Pipeline,
  Release,
  RemedyOperationJob,
} from '../../../src/api/generated/types.ts';
import {
  laterStagesReason,
  notAcceptedReason,
  notBackInServiceReason,
  notFailedReason,
  notFrozenReason,
  notHeldEverywhereReason,
  notPastFirstWaveReason,
  notProvenReason,
  notReadyReason,
  notRefusedReason,
  notRepairedReason,
  notStoppedReason,
  notUnsignedReason,
  orderReason,
  otherVersionReason,
  restartedReason,
} from '../../../src/demo/tour/observed.ts';
import { COMMIT, cluster, OLD_COMMIT, pipeline } from '../../cli/commands/builders.ts';

const proven = (minute: number): object => ({
  state: 'Proven',
  commit: COMMIT,
  message: 'proven',
  proven: [{ commit: COMMIT, provenAt: `2030-01-01T12:0${minute}:00Z` }],
});
const fleet = (test: object, pre: object, prod: object): readonly Cluster[] => [
  cluster(prod, 'prod'),
  cluster(test, 'test'),
  cluster(pre, 'pre'),
];
const applying = { state: 'Applying', commit: OLD_COMMIT, message: 'why' };
const failed = { state: 'Failed', commit: COMMIT, message: 'why' };
const machine = (status: object): Machine => ({ metadata: { name: 'm' }, status }) as never;
const running = (currentRef: string): Machine => machine({ components: [{ name: 'web', currentRef }] });
const set = (failedMachines: readonly string[], message: string): MachineComponentSet =>
  ({
    status: {
      failedMachines: failedMachines.map((name) => ({ name })),
      conditions: [{ type: 'Ready', message }],
    },
  }) as never;
const head = (verdict: string, message: string, commit = COMMIT): Pipeline =>
  pipeline({ head: { commit, verdict, message } });
const release = (reason: string): Release =>
  ({
    spec: { commit: COMMIT },
    status: { stages: [{ name: 'test', state: 'Waiting', waiting: { reason } }] },
  }) as never;
const job = (status: object): RemedyOperationJob => ({ metadata: { name: 'j' }, status }) as never;
const node = (bootID: string, spec: object = {}): never =>
  ({ metadata: { name: 'm' }, spec, status: { nodeInfo: { bootID } } }) as never;

describe('what a step of the tour waits for', () => {
  it.each<[name: string, reason: string | undefined, expected: string | undefined]>([
    ['proven', notProvenReason(fleet(proven(1), proven(2), proven(3)), COMMIT), undefined],
    [
      'one stage behind',
      notProvenReason(fleet(proven(1), applying, applying), COMMIT),
      'pre: Applying at bbbbbbbbbbbb: why',
    ],
    [
      'proven at another commit',
      notProvenReason(fleet(proven(1), proven(2), proven(3)), OLD_COMMIT),
      'test: Proven at aaaaaaaaaaaa: proven',
    ],
    ['no cluster yet', notProvenReason([], COMMIT), 'test: not observed yet'],
    ['in order', orderReason(fleet(proven(1), proven(2), proven(3)), COMMIT), undefined],
    ['later stages as before', laterStagesReason(fleet(failed, proven(2), proven(3)), COMMIT), undefined],
    [
      'a later stage with another commit',
      laterStagesReason(fleet(failed, proven(2), applying), COMMIT),
      'prod: Applying at bbbbbbbbbbbb: why',
    ],
    ['failed', notFailedReason(fleet(failed, applying, applying), COMMIT), undefined],
    [
      'not failed',
      notFailedReason(fleet(applying, failed, failed), COMMIT),
      'test: Applying at bbbbbbbbbbbb: why',
    ],
    ['the version', otherVersionReason([running('web-1')], '1'), undefined],
    [
      'another version',
      otherVersionReason([running('web-1'), running('web-2')], '1'),
      'not web-1: m runs web-2',
    ],
    ['no machine', otherVersionReason([], '1'), 'no machine was found'],
    ['stopped at one', notStoppedReason(set(['m'], 'web answered 500')), undefined],
    [
      'stopped at two',
      notStoppedReason(set(['m', 'n'], 'web answered 500')),
      'failed machines: 2, expected 1',
    ],
    ['stopped for another reason', notStoppedReason(set(['m'], 'no disk')), 'Ready of the set: no disk'],
    ['refused', notRefusedReason(head('Refused', 'bad [a/b.ts:12 x]'), COMMIT), undefined],
    ['refused without a line', notRefusedReason(head('Refused', 'bad'), COMMIT), 'Refused: bad'],
    ['accepted', notRefusedReason(head('Accepted', 'b.ts:12'), COMMIT), 'Accepted: b.ts:12'],
    ['no pipeline', notRefusedReason(undefined, COMMIT), 'the pipeline is at -'],
    ['accepted as expected', notAcceptedReason(head('Accepted', ''), COMMIT), undefined],
    ['not accepted', notAcceptedReason(head('Refused', 'bad'), COMMIT), 'Refused: bad'],
    [
      'not read yet',
      notAcceptedReason(head('Accepted', '', OLD_COMMIT), COMMIT),
      'the pipeline is at bbbbbbbbbbbb',
    ],
    ['unsigned', notUnsignedReason(head('BadSignature', 'aaaa: it is not signed'), COMMIT), undefined],
    [
      'refused for another signature',
      notUnsignedReason(head('BadSignature', 'its key is unknown'), COMMIT),
      'BadSignature: its key is unknown',
    ],
    ['not refused yet', notUnsignedReason(undefined, COMMIT), 'the pipeline is at -'],
    ['frozen', notFrozenReason([release('Freeze')], COMMIT), undefined],
    ['not frozen', notFrozenReason([release('Soaking')], COMMIT), 'no stage waits: test Waiting'],
    ['no release', notFrozenReason([release('Freeze')], OLD_COMMIT), 'no Release of bbbbbbbbbbbb yet'],
    ['repaired', notRepairedReason(job({ outcome: { class: 'Succeeded' } })), undefined],
    [
      'not repaired',
      notRepairedReason(job({ phase: 'Failed', outcome: { class: 'Failed', message: 'no boot' } })),
      'j: Failed no boot',
    ],
    ['not begun', notRepairedReason(job({})), 'j: Pending'],
    ['no job', notRepairedReason(undefined, machine({})), 'no repair job yet'],
    [
      'denied',
      notRepairedReason(
        undefined,
        machine({ remedyWaits: [{ rule: 'hang', reason: 'ZoneDark', message: 'zone west is dark' }] }),
      ),
      'rule hang waits: zone west is dark',
    ],
    ['booted', notBackInServiceReason(node('b'), 'a'), undefined],
    ['not booted', notBackInServiceReason(node('a'), 'a'), 'm has not booted again'],
    ['cordoned', notBackInServiceReason(node('b', { unschedulable: true }), 'a'), 'm is cordoned'],
    ['ready', notReadyReason(machine({ conditions: [{ type: 'Ready', status: 'True' }] })), undefined],
    [
      'not ready',
      notReadyReason(machine({ conditions: [{ type: 'Ready', status: 'False', message: 'why' }] })),
      'Ready=False: why',
    ],
    ['restarted', restartedReason(machine({ agent: { startedAt: 'b' } }), 'a'), undefined],
    [
      'silent',
      restartedReason(machine({ agent: { startedAt: 'a' } }), 'a'),
      'the agent has not reported since',
    ],
  ])('is explained: %s', (_, reason, expected) => {
    expect(reason).toBe(expected);
  });

  it('is an order of stages that none was proven before the one before it', () => {
    expect(orderReason(fleet(proven(1), proven(3), proven(2)), COMMIT)).toContain('proven at test ');
    expect(orderReason(fleet(proven(1), proven(2), applying), COMMIT)).toContain('prod NaN');
  });
});

function policyWith(...clusters: readonly string[]): Pick<FleetPolicy, 'status'> {
  const at = '2030-01-01T00:00:00Z';
  const cause = {
    dimension: 'componentUpdate',
    value: 'web-2',
    since: at,
    until: at,
    message: 'it failed',
  } as const;
  const causes = [{ ...cause, clusters: clusters.map((each) => ({ cluster: each, at })) }];
  return { status: { conditions: [], causes } };
}

function ledgerWith(rule: Partial<LedgerRule>): Pick<DefenderLedger, 'spec'> {
  return { spec: { rules: { hang: { wave: 1, proven: [], succeeded: 1, failed: [], ...rule } } } } as never;
}

describe('what is held after it failed in several clusters', () => {
  it('names the clusters in which it has to fail', () => {
    expect(notHeldEverywhereReason(policyWith('pre', 'test'), 'web-2', ['test', 'pre'])).toBeUndefined();
    expect(notHeldEverywhereReason(policyWith('test'), 'web-2', ['test', 'pre'])).toBe(
      'it has not failed in pre yet',
    );
    expect(notHeldEverywhereReason(policyWith('test'), 'web-3', ['test'])).toBe(
      'web-3 is not held, but web-2',
    );
    expect(notHeldEverywhereReason({}, 'web-2', ['test'])).toBe('web-2 is not held, but nothing');
  });
});

describe('the waves of a rule', () => {
  it.each<readonly [string, Partial<LedgerRule>, string | undefined]>([
    ['is in its first', {}, 'hang is in its first wave: 1 repairs verified, 0 failed'],
    ['is in its second', { wave: 2 }, undefined],
    ['has passed all', { proven: ['d-1'] }, undefined],
  ])('tell that a rule %s', (_, rule, expected) => {
    expect(notPastFirstWaveReason(ledgerWith(rule), 'hang')).toBe(expected);
  });

  it('are unknown of a rule that never acted', () => {
    expect(notPastFirstWaveReason(ledgerWith({}), 'other')).toBe('other is not in the ledger');
  });
});
