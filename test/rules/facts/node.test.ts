import { describe, expect, it } from 'vitest';
import { LABEL_MACHINESET, LABEL_POOL } from '../../../src/api/names.ts';
import { ago } from '../../support/builders.ts';
import { factsBed, lying } from '../live/facts-bed.ts';

const LABELS = {
  [LABEL_POOL]: 'gpu',
  [LABEL_MACHINESET]: 'set',
  'topology.kubernetes.io/zone': 'z1',
  'topology.kubernetes.io/rack': 'r1',
};

describe('the fact node', () => {
  it('has the properties of Node and Machine', () => {
    const bed = factsBed();
    bed.machine({
      status: {
        facts: { bootedAt: ago(900), detectorConfig: `sha256:${'ab'.repeat(32)}` },
        system: { osImage: 'Debian 13', gpuDriver: '570.1', gpuReadyAt: ago(800) },
        agent: { version: '0.1.0' },
      },
    });
    bed.node({ Ready: 'True' }, { labels: LABELS, more: { spec: { unschedulable: true } } });
    expect(bed.read('node')).toEqual({
      uptimeSeconds: 900,
      ageSeconds: 43_200,
      pool: 'gpu',
      zone: 'z1',
      rack: 'r1',
      arch: 'amd64',
      kernelVersion: '6.8.0',
      osImage: 'Debian 13',
      kubeletVersion: 'v1.34.2',
      driverVersion: '570.1',
      driverReadySeconds: 800,
      detectorVersion: '0.1.0',
      detectorConfig: 'abababababab',
      unschedulable: true,
    });
  });

  it('R4 keeps what the control plane wrote when the node is silent, and nothing that the node reported', async () => {
    const bed = factsBed();
    bed.machine({ status: { facts: { bootedAt: ago(900) } } });
    bed.node({ Ready: 'True' }, { labels: { [LABEL_MACHINESET]: 'set' } });
    bed.heartbeat();
    await bed.clock.advance(600_000);
    expect(bed.read('node')).toMatchObject({ uptimeSeconds: 1500, kernelVersion: '6.8.0' });
    await bed.clock.advance(61_000);
    expect(bed.read('node')).toEqual({ pool: 'set', ageSeconds: 43_861, unschedulable: false });
    // The agent of a node whose kubelet is dead knows since when the host runs.
    bed.heartbeat();
    expect(bed.read('node')['uptimeSeconds']).toBe(1561);
  });

  it('R1 is unknown without Node and Machine, and without values of another type', () => {
    const bed = factsBed();
    expect(bed.why('node')).toBe('there is neither a Node nor a Machine');
    bed.machine({
      status: { facts: lying({ bootedAt: 'soon', detectorConfig: 7 }), system: lying({ gpuDriver: 7 }) },
    });
    bed.heartbeat();
    expect(bed.read('node')).toEqual({});
  });
});
