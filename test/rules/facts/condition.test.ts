import { describe, expect, it } from 'vitest';
import type { Reading } from '../../../src/rules/compiled-rule.ts';
import { ago } from '../../support/builders.ts';
import { type FactsBed, factsBed, repairJob } from '../live/facts-bed.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const HUNG = { type: 'FrequentTaskHung' };
const READONLY = { type: 'ReadonlyFilesystem' };
const READY = { type: 'Ready' };

function statusOf(
  bed: FactsBed,
  params: { readonly type: string },
  maxAge?: { readonly seconds: number },
): Reading[string] | undefined {
  return bed.read('condition', params, maxAge)['status'];
}

describe('the fact condition', () => {
  it('R2 has the duration by our own clock, and not that of the writer', async () => {
    const bed = factsBed();
    bed.machine();
    bed.node({ FrequentTaskHung: { status: 'True', reason: 'TaskHung', lastTransitionTime: ago(9000) } });
    await bed.clock.advance(90_000);
    expect(bed.read('condition', HUNG)).toEqual({
      status: 'True',
      reason: 'TaskHung',
      observedSeconds: 90,
      heartbeatAgeSeconds: 90,
      transitionsPerHour: 0,
    });
  });

  it('R2 counts transitions once it knows those of a whole hour', async () => {
    const bed = factsBed();
    bed.machine();
    for (const status of ['False', 'True', 'False'] as const) {
      bed.node({ FrequentTaskHung: status });
      await bed.clock.advance(10 * MINUTE);
    }
    expect(bed.read('condition', HUNG)).not.toHaveProperty('transitionsPerHour');
    await bed.clock.advance(31 * MINUTE);
    bed.node({ FrequentTaskHung: { status: 'False', lastTransitionTime: ago(-1200) } });
    expect(bed.read('condition', HUNG)['transitionsPerHour']).toBe(2);
    await bed.clock.advance(10 * MINUTE);
    expect(bed.read('condition', HUNG)['transitionsPerHour']).toBe(1);
  });

  it('R4 makes the conditions of a detector unknown when it is silent for longer than their maximum age', async () => {
    const bed = factsBed();
    bed.machine();
    bed.node({ FrequentTaskHung: 'True', Ready: 'True' });
    const heartbeat = bed.clock.now().toISOString();
    // The kubelet lives and updates the Node; the heartbeat of the detector remains.
    for (let minute = 0; minute < 11; minute += 1) {
      await bed.clock.advance(MINUTE);
      bed.renewNodeLease();
      bed.node({ FrequentTaskHung: 'True', Ready: 'True' }, { heartbeat });
    }
    expect(statusOf(bed, HUNG)).toBe('True');
    await bed.clock.advance(10_000);
    expect(bed.read('condition', HUNG)).toEqual({});
    expect(bed.why('condition', HUNG)).toBe(
      'nothing heard of the writer of condition FrequentTaskHung for 670 s',
    );
    expect(statusOf(bed, READY)).toBe('True');
  });

  it('R4 keeps a Ready=Unknown of the node lifecycle controller for as long as our own watch is current', async () => {
    const bed = factsBed();
    bed.machine();
    const frozen = { Ready: 'True' } as const;
    bed.node(frozen);
    const heartbeat = bed.clock.now().toISOString();
    await bed.clock.advance(50_000);
    bed.node({ Ready: { status: 'Unknown', reason: 'NodeStatusUnknown' } }, { heartbeat });
    await bed.clock.advance(2 * HOUR);
    expect(bed.read('condition', READY)).toMatchObject({ status: 'Unknown', observedSeconds: 7200 });
    bed.silence('nodes', 200_000);
    expect(bed.read('condition', READY)).toEqual({});
  });

  it('R4 takes the Lease of the kubelet for a sign of life, which comes more often than its heartbeat', async () => {
    const bed = factsBed();
    bed.machine();
    bed.node({ DiskPressure: 'False' });
    for (let renewals = 0; renewals < 20; renewals += 1) {
      await bed.clock.advance(10_000);
      bed.renewNodeLease();
    }
    expect(statusOf(bed, { type: 'DiskPressure' }, { seconds: 40 })).toBe('False');
    await bed.clock.advance(41_000);
    expect(statusOf(bed, { type: 'DiskPressure' }, { seconds: 40 })).toBeUndefined();
  });

  it('R4 does not take another update of a Node for a sign of life of a silent kubelet', async () => {
    const bed = factsBed();
    bed.machine();
    bed.renewNodeLease();
    const heartbeat = bed.clock.now().toISOString();
    bed.node({ Ready: 'True' }, { heartbeat });
    await bed.clock.advance(50_000);
    bed.node({ Ready: 'True' }, { heartbeat, labels: { changed: 'yes' } });
    expect(statusOf(bed, READY, { seconds: 40 })).toBeUndefined();
  });

  it('R4 knows by the timestamp how old a condition is that was there before we began to observe', () => {
    const bed = factsBed();
    bed.machine();
    bed.node({ FrequentTaskHung: 'True' }, { heartbeat: ago(700) });
    expect(statusOf(bed, HUNG)).toBeUndefined();
    bed.node({ FrequentTaskHung: 'True' });
    expect(statusOf(bed, HUNG)).toBe('True');
  });

  it('R4 reads conditions of the Machine as long as our own watch is current', async () => {
    const bed = factsBed();
    bed.machine();
    await bed.clock.advance(2 * HOUR);
    expect(statusOf(bed, { type: 'AgentReady' })).toBe('True');
    bed.silence('machines', Infinity);
    expect(bed.why('condition', { type: 'AgentReady' })).toBe('Machines: initial list not complete');
  });

  it('R4 needs no heartbeat for a condition that the network of the cluster writes once', async () => {
    const bed = factsBed();
    bed.machine();
    bed.node({ NetworkUnavailable: 'False' });
    await bed.clock.advance(2 * HOUR);
    expect(statusOf(bed, { type: 'NetworkUnavailable' })).toBe('False');
  });

  it('R1 is unknown for a condition that is not reported, and without one of its values that is not valid', () => {
    const bed = factsBed();
    bed.machine();
    bed.node({ FrequentTaskHung: { status: 'perhaps', reason: '' } });
    expect(bed.why('condition', { type: 'Other' })).toBe('neither Node nor Machine has condition Other');
    expect(bed.read('condition', HUNG)).toEqual({ observedSeconds: 0, heartbeatAgeSeconds: 0 });
  });
});

describe('a condition that its detector never clears', () => {
  it('R3 proves nothing any more once the repair of it has ended', async () => {
    const bed = factsBed();
    bed.machine();
    bed.node({ ReadonlyFilesystem: 'True', FrequentTaskHung: 'True' });
    await bed.clock.advance(MINUTE);
    const started = bed.clock.now().toISOString();
    bed.job(repairJob('j', [['Reboot', started]]));
    expect(statusOf(bed, READONLY)).toBe('True');
    await bed.clock.advance(MINUTE);
    bed.job(repairJob('j', [['Reboot', started]], { outcome: { class: 'Succeeded' } }));
    expect(bed.why('condition', READONLY)).toBe(
      'condition ReadonlyFilesystem does not clear by itself and was raised before the last repair ended',
    );
    expect(statusOf(bed, HUNG)).toBe('True');
    // After a rearm it is False, and then raised again.
    await bed.clock.advance(MINUTE);
    bed.node({ ReadonlyFilesystem: 'False' });
    expect(statusOf(bed, READONLY)).toBe('False');
    await bed.clock.advance(MINUTE);
    bed.node({ ReadonlyFilesystem: 'True' });
    expect(statusOf(bed, READONLY)).toBe('True');
  });

  it('R3 proves nothing to a process that starts after the repair', async () => {
    const bed = factsBed();
    bed.machine({
      status: { faults: [{ type: 'ReadonlyFilesystem', status: 'True', nodeUID: 'uid-1', since: ago(600) }] },
    });
    bed.node({ ReadonlyFilesystem: 'True' });
    const done = { outcome: { class: 'Succeeded' }, timeline: { settledAt: ago(60) } };
    bed.job(repairJob('j', [['Reboot', ago(120)]], done));
    bed.restart();
    expect(statusOf(bed, READONLY)).toBeUndefined();
  });

  it('R3 still proves the fault after a job that did nothing', async () => {
    const bed = factsBed();
    bed.machine();
    bed.node({ ReadonlyFilesystem: 'True' });
    await bed.clock.advance(MINUTE);
    bed.job(repairJob('j', [['Reboot', undefined]], { outcome: { class: 'Cancelled' } }));
    expect(statusOf(bed, READONLY)).toBe('True');
  });

  it('R3 proves nothing after a boot, until it is raised again', async () => {
    const bed = factsBed();
    bed.machine();
    const raised = { status: 'True', lastTransitionTime: bed.clock.now().toISOString() };
    bed.node({ ReadonlyFilesystem: raised });
    await bed.clock.advance(MINUTE);
    bed.node({ ReadonlyFilesystem: raised }, { bootID: 'boot-2' });
    expect(bed.why('condition', READONLY)).toBe(
      'condition ReadonlyFilesystem does not clear by itself and was raised before the last boot',
    );
    await bed.clock.advance(MINUTE);
    bed.node({ ReadonlyFilesystem: 'False' }, { bootID: 'boot-2' });
    expect(statusOf(bed, READONLY)).toBe('False');
    await bed.clock.advance(MINUTE);
    bed.node({ ReadonlyFilesystem: 'True' }, { bootID: 'boot-2' });
    expect(statusOf(bed, READONLY)).toBe('True');
  });

  it('R3 proves nothing if its detector read a log line of the boot before', () => {
    const bed = factsBed();
    bed.machine({ status: { facts: { bootedAt: ago(60) } } });
    bed.node({ ReadonlyFilesystem: 'False' });
    bed.node({ ReadonlyFilesystem: { status: 'True', lastTransitionTime: ago(90) } });
    expect(statusOf(bed, READONLY)).toBeUndefined();
    bed.node({ ReadonlyFilesystem: { status: 'True', lastTransitionTime: ago(30) } });
    expect(statusOf(bed, READONLY)).toBe('True');
  });

  it('R3 tells that there is no fault in every boot', () => {
    const bed = factsBed();
    bed.machine({ status: { facts: { bootedAt: ago(60) } } });
    bed.node({ ReadonlyFilesystem: { status: 'False', lastTransitionTime: ago(90) } });
    expect(statusOf(bed, READONLY)).toBe('False');
  });
});
