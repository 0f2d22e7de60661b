import { describe, expect, it } from 'vitest';
import { LEASE_SILENT_MS } from '../../../src/rules/recording/format.ts';
import { NOW } from '../../support/virtual-clock.ts';
import { CLUSTER, type RecordingBed, recordingBed } from './recording-bed.ts';

const ABOUT: ReadonlySet<string> = new Set(['name', 'view']);

/** `+20 Lease agentLeases`: seconds since the start, type and what it is about. */
function texts({ lines }: RecordingBed): readonly string[] {
  return lines.map((line) => {
    const seconds = (Date.parse(line.at) - +NOW) / 1000;
    const about = Object.entries<unknown>({ ...line }).find(([field]) => ABOUT.has(field))?.[1];
    return `+${seconds} ${line.type} ${typeof about === 'string' ? about : ''}`.trim();
  });
}

describe('createFactRecorder', () => {
  it('begins with the format, the cluster and the version of the program', () => {
    expect(recordingBed().lines).toEqual([
      {
        type: 'Started',
        at: NOW.toISOString(),
        format: 'kubenode-facts',
        version: 1,
        kubenode: '0.0.0',
        cluster: CLUSTER,
      },
    ]);
  });

  it('writes a Node once, then only its heartbeats, until something else changes', () => {
    const bed = recordingBed();
    bed.node('m-1', { Ready: 'True', PIDPressure: 'False' });
    bed.elapse(299);
    bed.elapse(1);
    bed.node('m-1', { Ready: 'False' });
    const found = bed.lines.filter(({ type }) => type !== 'Tick' && type !== 'Lease');
    expect(found.map(({ type }) => type)).toEqual(['Started', 'Put', 'Heartbeat', 'Put']);
    const time = new Date(+NOW + 300_000).toISOString();
    expect(found[2]).toEqual({
      type: 'Heartbeat',
      at: time,
      node: 'm-1',
      times: { Ready: time, PIDPressure: time },
    });
    expect(JSON.stringify(bed.lines)).not.toContain('secret');
  });

  it('writes nothing for a change of what is not recorded', () => {
    const bed = recordingBed();
    bed.machine('m-1');
    const before = bed.lines.length;
    bed.machine('m-1', { spec: { minReadySeconds: 7 } });
    expect(bed.lines.length).toBe(before);
    bed.machine('m-1', { metadata: { labels: { pool: 'a' } } });
    expect(bed.lines.length).toBe(before + 1);
  });

  it('writes of an agent when it is first heard of, when it is silent, and when it is heard of again', () => {
    const bed = recordingBed();
    bed.agent('m-1', true);
    bed.elapse(25);
    bed.agent('m-1', false);
    bed.elapse(100);
    bed.agent('m-1', true);
    bed.elapse(25);
    const agents = bed.lines.filter((line) => line.type === 'Lease' && line.name === 'm-1');
    const silent = (20_000 + LEASE_SILENT_MS) / 1000 + 1;
    expect(texts({ ...bed, lines: agents })).toEqual([
      '+0 Lease agentLeases',
      `+${silent} Lease agentLeases`,
      '+125 Lease agentLeases',
    ]);
    expect(agents[1]).toMatchObject({ silentSince: new Date(+NOW + 20_000).toISOString() });
  });

  it('writes lost contact and its end, and that it runs while nothing changes', () => {
    const bed = recordingBed();
    bed.silence('nodes', 200_000);
    bed.elapse(1);
    bed.silence('nodes', undefined);
    bed.elapse(32);
    expect(texts(bed)).toEqual(['+0 Started', '+1 Contact nodes', '+2 Contact nodes', '+32 Tick']);
    expect(bed.lines[1]).toMatchObject({ lostSince: new Date(+NOW - 199_000).toISOString() });
  });

  it('writes that the kubelet of a Node is heard of again when the Node was deleted and created', () => {
    const bed = recordingBed();
    bed.node('m-1', { Ready: 'True' });
    bed.elapse(10);
    bed.deleteNode('m-1');
    bed.node('m-1', { Ready: 'True' });
    bed.elapse(10);
    expect(texts(bed).filter((text) => text.includes('nodeLeases'))).toEqual([
      '+10 Lease nodeLeases',
      '+20 Lease nodeLeases',
    ]);
  });

  it('writes a delete, and the next object of the same name in full', () => {
    const bed = recordingBed();
    bed.node('m-1', { Ready: 'True' });
    bed.deleteNode('m-1');
    bed.node('m-1', { Ready: 'True' });
    expect(texts(bed).slice(1)).toEqual(['+0 Put nodes', '+0 Delete nodes', '+0 Put nodes']);
  });
});
