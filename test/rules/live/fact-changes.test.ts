import { describe, expect, it } from 'vitest';
import { ALL_TOPICS, topicOf } from '../../../src/rules/live/fact-changes.ts';
import { ago } from '../../support/builders.ts';
import { type FactsBed, factsBed, lying, refOf, repairJob } from './facts-bed.ts';

function bedWithNode(): FactsBed {
  const bed = factsBed();
  bed.machine();
  bed.node({ Ready: 'True', FrequentTaskHung: 'False' }, { heartbeat: ago(0) });
  bed.heartbeat();
  bed.changes.length = 0;
  return bed;
}

/** What is reported as other values, and not only as a sign of life. */
function values(bed: FactsBed): readonly string[] {
  return bed.changes.filter(({ silentMs }) => silentMs === undefined).flatMap(({ topics }) => topics);
}

describe('a change of an object', () => {
  it.each<readonly [name: string, topics: readonly string[], change: (bed: FactsBed) => void]>([
    [
      'that is another status concerns that condition',
      ['condition FrequentTaskHung'],
      (bed) => bed.node({ Ready: 'True', FrequentTaskHung: 'True' }, { heartbeat: ago(0) }),
    ],
    [
      'that adds and removes conditions concerns both',
      ['condition FrequentTaskHung', 'condition Other'],
      (bed) => bed.node({ Ready: 'True', Other: 'False' }, { heartbeat: ago(0) }),
    ],
    [
      'that is another boot concerns all conditions and the node',
      ['condition', 'node'],
      (bed) =>
        bed.node({ Ready: 'True', FrequentTaskHung: 'False' }, { heartbeat: ago(0), bootID: 'boot-2' }),
    ],
    [
      'that labels the Node concerns the node',
      ['node'],
      (bed) =>
        bed.node({ Ready: 'True', FrequentTaskHung: 'False' }, { heartbeat: ago(0), labels: { a: 'b' } }),
    ],
    ['that is written again with the same content concerns nothing', [], (bed) => bed.machine()],
    [
      'of a component concerns that component',
      ['component kubelet'],
      (bed) => bed.machine({ status: { components: [{ name: 'kubelet', state: 'Failed' }] } }),
    ],
    [
      'of file systems and probes concerns those',
      ['disk imagefs', 'probe dns'],
      (bed) =>
        bed.machine({
          status: { facts: { disk: [{ filesystem: 'imagefs' }], probes: [{ name: 'dns', result: 'Pass' }] } },
        }),
    ],
    [
      'of the time of the boot concerns the conditions and the errors of GPUs, too',
      ['condition', 'node', 'xid'],
      (bed) => bed.machine({ status: { facts: { bootedAt: ago(0) } } }),
    ],
    [
      'of Events concerns their reason',
      ['event TaskHung'],
      (bed) => bed.event('a', { reason: 'TaskHung', lastTimestamp: ago(0) }),
    ],
    [
      'of a job concerns the history',
      ['history', 'fleet'],
      (bed) => bed.job(repairJob('j', [['Reboot', ago(0)]])),
    ],
    [
      'that ends a job concerns the conditions, too',
      ['condition', 'history', 'fleet'],
      (bed) => bed.job(repairJob('j', [['Reboot', ago(0)]], { outcome: { class: 'Succeeded' } })),
    ],
    ['that deletes the Node concerns everything', ALL_TOPICS, (bed) => bed.deleteNode()],
  ])('%s', (_, topics, change) => {
    const bed = bedWithNode();
    change(bed);
    expect(values(bed)).toEqual(topics);
  });

  it('R4 with the same values tells how long its writer was silent', async () => {
    const bed = bedWithNode();
    await bed.clock.advance(300_000);
    bed.node({ FrequentTaskHung: 'False' }, { heartbeat: ago(-300) });
    bed.heartbeat();
    bed.renewNodeLease();
    // Its Node has no condition Ready any more.
    expect(values(bed)).toEqual(['condition Ready', 'condition FrequentTaskHung', 'diagnosis']);
    expect(bed.changes.filter(({ silentMs }) => silentMs !== undefined)).toEqual([
      { machine: 'n', topics: ['node', 'component', 'disk', 'probe', 'diagnosis', 'xid'], silentMs: 300_000 },
      { machine: 'n', topics: ['condition', 'node'], silentMs: Infinity },
    ]);
  });

  it('R1 of a Machine that lies about its types concerns what changed', () => {
    const bed = bedWithNode();
    bed.machine({ status: { components: lying('none'), facts: lying({ disk: [7] }) } });
    expect(values(bed)).toEqual(['component kubelet', 'disk ']);
  });
});

describe('topicOf', () => {
  it.each([
    ['condition Ready', 'condition', { type: 'Ready' }],
    ['event TaskHung', 'event', { reason: 'TaskHung', windowSeconds: 60 }],
    ['node', 'node', {}],
    ['history Reboot', 'history', { action: 'Reboot', windowSeconds: 60 }],
  ])('is %s', (topic, fact, params) => {
    expect(topicOf(refOf(fact, params))).toBe(topic);
  });
});
